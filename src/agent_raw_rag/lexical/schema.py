"""The fields of the index, chunks as its documents, and queries as its query objects. The only maker of tantivy values.

No query parser anywhere: what a query says is terms, so an operator, a wildcard or a bracket in it is only text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import tantivy
from tantivy import FieldType, Occur, Query

from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter, lineage, trim
from agent_raw_rag.lexical.queries import QueryTerm

EXACT_WEIGHT = 2.0
"""How much more than a word an identifier or a quoted term weighs."""

_TERMS = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
_RAW = ("project", "agent", "branch", "role")


def new_schema() -> Any:
    """The schema. Nothing is stored: text and facts are the store's, the index only finds ids."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("chunk", indexed=True, fast=True)  # tantivy-py 0.27 deletes by no unsigned term
    builder.add_text_field("body", tokenizer_name="terms", index_option="freq")  # positions would double the size
    for name in _RAW:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("session", indexed=True)
    builder.add_integer_field("start", indexed=True, fast=True)
    builder.add_integer_field("end", indexed=True, fast=True)
    return builder.build()


def prepare(index: Any) -> Any:
    """Give an index our tokenizer, and readers that look again only when told to."""
    index.register_tokenizer("terms", _TERMS)
    index.config_reader("manual")
    return index


def document(doc: LexicalDoc, body: str) -> Any:
    """A chunk, whose terms are ``body``, as the index takes it."""
    made = tantivy.Document()
    made.add_integer("chunk", doc.chunk_id)
    made.add_text("body", body)
    made.add_integer("session", doc.session)
    made.add_text("agent", doc.agent)
    made.add_text("branch", doc.branch or "")
    for path in dict.fromkeys(path for project in doc.projects for path in lineage(project)):
        made.add_text("project", path)
    for role in doc.roles:
        made.add_text("role", role)
    if doc.start is not None:
        made.add_integer("start", doc.start)
    if doc.end is not None:
        made.add_integer("end", doc.end)
    return made


def build_query(schema: Any, wanted: Iterable[QueryTerm], filters: LexicalFilter) -> Any:
    """Any of the terms, BM25; all of the filters, which do not touch the score."""
    words = Query.boolean_query([(Occur.Should, _term(schema, term)) for term in wanted])
    narrowed = [(Occur.Must, Query.const_score_query(query, 0.0)) for query in _filters(schema, filters)]
    return Query.boolean_query([(Occur.Must, words), *narrowed]) if narrowed else words


def _term(schema: Any, term: QueryTerm) -> Any:
    query = Query.term_query(schema, "body", term.text, "freq")
    return Query.boost_query(query, EXACT_WEIGHT) if term.exact else query


def _filters(schema: Any, filters: LexicalFilter) -> Iterable[Any]:
    projects = None if filters.projects is None else {trim(project) for project in filters.projects}
    fields: dict[str, Collection[Any] | None] = {
        "project": projects,
        "agent": filters.agents,
        "session": filters.sessions,
        "branch": filters.branches,
        "role": filters.roles,
    }
    for name, values in fields.items():
        if values is not None:
            yield Query.term_set_query(schema, name, list(values))
    if filters.after is not None:
        yield Query.range_query(schema, "end", FieldType.Integer, filters.after, None)
    if filters.before is not None:
        yield Query.range_query(schema, "start", FieldType.Integer, None, filters.before, include_upper=False)
