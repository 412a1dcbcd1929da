// src/ -> what the server hands out: index.html, app-<hash>.js, app-<hash>.css, favicon.svg, LICENSES.txt.
// The same sources and the same locked packages give the same bytes.

import { readFile, readdir, rm, writeFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const assets = join(here, "../src/agent_raw_rag/server/http/assets");
const BUNDLED = ["preact"]; // whose code stands in the bundle; checked below
const MOST_BYTES = 80_000; // gzipped, script and style together

await mkdir(assets, { recursive: true });
for (const name of await readdir(assets)) if (!name.endsWith(".py")) await rm(join(assets, name));

const built = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: assets,
  entryNames: "[name]-[hash]",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none", // the licences stand in a file of their own
  metafile: true,
  logLevel: "warning",
});

const packages = new Set(
  Object.keys(built.metafile.inputs).flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
);
if ([...packages].sort().join() !== [...BUNDLED].sort().join())
  throw new Error(`The bundle holds code of ${[...packages]}, and licences of ${BUNDLED}.`);

const written = Object.keys(built.metafile.outputs).map((path) => basename(path));
const named = (ending) => written.find((name) => name.endsWith(ending));
const page = await readFile(join(here, "src/index.html"), "utf8");
await writeFile(
  join(assets, "index.html"),
  page.replace("app.css", named(".css")).replace("app.js", named(".js")),
);
await writeFile(join(assets, "favicon.svg"), await readFile(join(here, "src/favicon.svg")));

const licences = await Promise.all(
  BUNDLED.map(async (name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}\n`;
  }),
);
await writeFile(join(assets, "LICENSES.txt"), `The script of the page contains:\n\n${licences.join("\n---\n\n")}`);

let bytes = 0;
for (const name of written) bytes += gzipSync(await readFile(join(assets, name))).length;
console.log(`${written.join(" ")}: ${(bytes / 1000).toFixed(1)} kB gzipped`);
if (bytes > MOST_BYTES) throw new Error(`More than ${MOST_BYTES} bytes.`);
