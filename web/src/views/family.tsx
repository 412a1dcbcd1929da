/** The sessions that belong together, as a tree; and the ways inside this one that were left. */

import { address } from "../route";
import type { Tree } from "../types";
import { counted, day, number, titled } from "../words";
import { Facts, Tag, Time } from "../parts/basic";
import { useWide } from "../parts/filters";

type Node = Tree["nodes"][number];
const KINDS: Record<string, string> = { subagent: "sub-agent" };

export function Family({ tree, here }: { tree: Tree; here: string }) {
  const wide = useWide();
  const roots = tree.nodes.filter((one) => !one.parent || !tree.nodes.some((other) => other.session === one.parent));
  return (
    <>
      {tree.nodes.length > 1 && (
        <nav class="tree" aria-label="Sessions that belong together">
          <details open={wide}>
            <summary>
              <h2>Sub-agents and forks ({number(tree.nodes.length - 1)})</h2>
            </summary>
            <Level nodes={roots} tree={tree} here={here} depth={0} />
          </details>
        </nav>
      )}
      {tree.branches.length > 1 && (
        <nav class="tree" aria-label="Branches in this session">
          <h2>Branches</h2>
          <ul>
            {tree.branches.map((one) => (
              <li key={`${one.first_turn} ${one.last_turn}`}>
                <a href={address("session", here, { turn: one.first_turn })}>
                  Turns {one.first_turn}–{one.last_turn}
                </a>
                <Facts of={[one.branch_from !== null && `from ${one.branch_from}`, one.abandoned && <Tag kind="warn">abandoned</Tag>]} />
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  );
}

function Level({ nodes, tree, here, depth }: { nodes: Node[]; tree: Tree; here: string; depth: number }) {
  if (!nodes.length || depth > 20) return null;
  return (
    <ul>
      {nodes.map((one) => (
        <li key={one.session}>
          <a href={address("session", one.session)} aria-current={one.session === here ? "page" : undefined}>
            {titled(one)}
          </a>
          <Facts of={[one.kind && (KINDS[one.kind] ?? one.kind), one.agent, counted(one.turns, "turn"), <Time of={one.started} form={day} />]} />
          <Level nodes={tree.nodes.filter((child) => child.parent === one.session)} tree={tree} here={here} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}
