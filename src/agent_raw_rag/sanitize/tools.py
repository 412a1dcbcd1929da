"""Which category a tool belongs to: decides what of its arguments is shown.

Exact names first; else the first telling word of the name (``list_open_issues`` -> list). Whole words only:
``unreadable`` does not read.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache


class Category(Enum):
    """What a tool does, as far as its line is concerned."""

    READ = auto()
    EDIT = auto()
    SHELL = auto()
    TASK = auto()
    TODO = auto()
    WEB = auto()
    OTHER = auto()


_NAMES = {
    Category.READ: """
        read read_file read_files readfile read_many_files view view_file view_files view_image view_file_outline
        view_code_item view_content_chunk open open_file cat head tail glob grep grep_search search search_files
        search_file_content file_search codebase_search find find_by_name find_files ls list list_dir list_directory
        list_files tree notebookread ast_grep lsp read_mcp_resource list_mcp_resources tool_search
    """,
    Category.EDIT: """
        edit edit_file multiedit multi_edit write write_file write_to_file create create_file notebookedit notebook_edit
        apply_patch patch replace replace_file_content multi_replace_file_content str_replace str_replace_editor
        str_replace_based_edit_tool insert search_replace update_file delete_file ast_edit code_action
    """,
    Category.SHELL: """
        bash shell sh zsh cmd powershell pwsh exec exec_command execute execute_command command shell_command local_shell
        local_shell_call container.exec run_command run_shell_command run_terminal_cmd run_in_terminal terminal
        write_stdin send_command_input codemode code_mode python ipython js_repl
    """,
    Category.TASK: """
        task agent subagent sub_agent spawn_agent invoke_subagent browser_subagent delegate dispatch_agent send_input
        send_message followup_task
    """,
    Category.TODO: "todo todowrite todo_write todoread todo_read update_plan plan taskcreate taskupdate task_create",
    Category.WEB: """
        webfetch web_fetch fetch websearch web_search web_search_call search_web read_url_content read_url url_fetch
        browse web.run open_url google_web_search
    """,
}
_BY_NAME = {name: category for category, names in _NAMES.items() for name in names.split()}
_WORDS = {
    Category.READ: "read view cat glob grep search find list ls open tree",
    Category.EDIT: "edit write patch replace",
    Category.SHELL: "bash shell exec execute terminal command cmd run powershell",
    Category.TASK: "subagent delegate spawn",
    Category.TODO: "todo todos",
    Category.WEB: "web url fetch browse",
}
_BY_WORD = {word: category for category, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MAX_NAME = 80


def shown_name(name: str) -> str:
    """The tool's name as the agent has it, on one line and not longer than 80 characters."""
    visible = "".join(char if char.isprintable() else " " for char in name[: 4 * _MAX_NAME])
    return " ".join(visible.split())[:_MAX_NAME] or "tool"


@lru_cache(maxsize=1024)
def category_of(name: str) -> Category:
    """The category of a tool, by its name."""
    lowered = name.lower()
    if lowered in _BY_NAME:
        return _BY_NAME[lowered]
    own = re.split(r"__|[./:]", name)[-1]
    if own.lower() in _BY_NAME:
        return _BY_NAME[own.lower()]
    words = (word.lower() for word in _WORD.findall(own))
    return next((_BY_WORD[word] for word in words if word in _BY_WORD), Category.OTHER)
