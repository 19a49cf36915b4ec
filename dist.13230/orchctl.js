import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  connectionFlags
} from "./chunk-HWP2OOB6.js";
import {
  version
} from "./chunk-XWKYMXOX.js";
import {
  UsageError,
  helpText,
  nearest,
  splitCommand
} from "./chunk-OWEQTUCH.js";
import "./chunk-K3AUPHIL.js";

// src/cli/orchctl.ts
import { homedir } from "node:os";

// src/cli/commands.ts
var commands = [
  { name: "get", summary: "show objects", load: async () => (await import("./get-NZB43EYR.js")).getCommand },
  {
    name: "api-resources",
    summary: "show which types of objects the server has",
    load: async () => (await import("./api-resources-E74ZYO6J.js")).apiResourcesCommand
  },
  {
    name: "version",
    summary: "show the versions of this program and of the server",
    load: async () => (await import("./version-YVRQ32YP.js")).versionCommand
  }
];

// src/cli/main.ts
async function main(context, args) {
  try {
    return await run(context, args), 0;
  } catch (error) {
    if (context.signal.aborted) return interrupted;
    let { explainError } = await import("./explain-error-CQS6QEEM.js");
    return context.err(explainError(error)), 1;
  }
}
var interrupted = 130;
async function run(context, args) {
  let asksHelp = args.some((arg, i) => (arg === "--help" || arg === "-h") && !args.slice(0, i).includes("--")), plain = asksHelp ? args.filter((arg) => arg !== "--help" && arg !== "-h") : args;
  if (plain[0] === "--version") return await run(context, ["version", "--client"]);
  let { command, rest } = splitCommand(connectionFlags, plain);
  if (command === void 0 || command === "help") return await help(context, command === void 0 ? [] : rest);
  let found = await findCommand(command).load();
  asksHelp ? context.out(found.help) : await found.run(context, rest);
}
async function help(context, [name]) {
  context.out(name === void 0 ? usage() : (await findCommand(name).load()).help);
}
function findCommand(name) {
  let known = commands.find((command) => command.name === name);
  if (known !== void 0) return known;
  let names = commands.map((command) => command.name), hint = nearest(name, names), advice = hint === void 0 ? `known are ${names.join(", ")}` : `did you mean ${hint}?`;
  throw new UsageError(`unknown command ${JSON.stringify(name)}; ${advice} (orchctl help)`);
}
function usage() {
  let width = Math.max(...commands.map(({ name }) => name.length), 12) + 2, lines = [...commands, { name: "help COMMAND", summary: "show what a command does and its flags" }];
  return `orchctl ${version}: the command-line client of orch

Usage:
  orchctl COMMAND [arguments] [flags]

Commands:
${lines.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join(`
`)}

Flags of all commands:
${helpText(connectionFlags)}
`;
}

// src/cli/orchctl.ts
var stop = new AbortController();
for (let signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
for (let stream of [process.stdout, process.stderr]) stream.on("error", onBrokenStream);
process.exitCode = await main(
  {
    out: (text) => {
      process.stdout.write(text);
    },
    err: (text) => {
      process.stderr.write(text);
    },
    env: process.env,
    home: homedir(),
    directory: process.cwd(),
    signal: stop.signal
  },
  process.argv.slice(2)
);
function onBrokenStream(error) {
  throw error.code === "EPIPE" && process.exit(0), error;
}
