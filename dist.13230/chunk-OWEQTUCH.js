import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/base/flags.ts
var UsageError = class extends Error {
  name = "UsageError";
};
function flag(name, value, fallback, read, help) {
  let [letter, long] = name.includes(",") ? name.split(",") : ["", name];
  return { name: long, letter, value, default: fallback, read, help };
}
function toggle(name, help) {
  return flag(name, "", "", (text2) => text2 !== "" && readBoolean(text2), help);
}
var text = (value) => value;
function readBoolean(value) {
  if (value !== "true" && value !== "false") throw new UsageError(`${JSON.stringify(value)} is not true or false`);
  return value === "true";
}
function oneOf(words) {
  return (text2) => {
    let known = words.find((word) => word === text2);
    if (known === void 0)
      throw new UsageError(`${JSON.stringify(text2)} is not one of ${words.filter((word) => word !== "").join(", ")}`);
    return known;
  };
}
function parseCommandLine(flags, args) {
  let { given, words } = scan(flags, args), read = Object.entries(flags).map(([option, flag2]) => [option, readFlag(flag2, given.get(flag2.name))]);
  return { options: Object.freeze(Object.fromEntries(read)), words };
}
function parseFlags(flags, args) {
  let { options, words } = parseCommandLine(flags, args);
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: flags begin with --`);
  return options;
}
function splitCommand(flags, args) {
  for (let i = 0; i < args.length && args[i] !== "--"; i++) {
    if (!isFlag(args[i])) return { command: args[i], rest: args.toSpliced(i, 1) };
    let last = argumentFlags(flags, args[i]).at(-1);
    last.text === void 0 && last.flag.value !== "" && i++;
  }
  return { command: void 0, rest: [...args] };
}
function scan(flags, args) {
  let given = /* @__PURE__ */ new Map(), words = [];
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "--") return { given, words: [...words, ...args.slice(i + 1)] };
    if (!isFlag(args[i])) words.push(args[i]);
    else
      for (let { flag: flag2, text: text2 } of argumentFlags(flags, args[i])) {
        if (given.has(flag2.name)) throw new UsageError(`--${flag2.name} is given twice`);
        given.set(flag2.name, text2 ?? (flag2.value === "" ? "true" : valueAfter(flag2, args[++i])));
      }
  }
  return { given, words };
}
function isFlag(argument) {
  return argument.startsWith("-") && argument !== "-";
}
function argumentFlags(flags, argument) {
  if (!argument.startsWith("--")) return letterFlags(flags, argument);
  let equals = argument.indexOf("=");
  return equals < 0 ? [{ flag: findFlag(flags, argument.slice(2)), text: void 0 }] : [{ flag: findFlag(flags, argument.slice(2, equals)), text: argument.slice(equals + 1) }];
}
function letterFlags(flags, argument) {
  let found = [];
  for (let i = 1; i < argument.length; i++) {
    let flag2 = findLetter(flags, argument[i]), rest = argument.slice(i + 1);
    if (rest.startsWith("=")) return [...found, { flag: flag2, text: rest.slice(1) }];
    if (flag2.value !== "") return [...found, { flag: flag2, text: rest === "" ? void 0 : rest }];
    found.push({ flag: flag2, text: void 0 });
  }
  return found;
}
function findLetter(flags, letter) {
  let flag2 = Object.values(flags).find((candidate) => candidate.letter === letter);
  if (flag2 === void 0) throw new UsageError(`unknown flag -${letter} (--help lists all flags)`);
  return flag2;
}
function findFlag(flags, name) {
  let all = Object.values(flags), flag2 = all.find((candidate) => candidate.name === name);
  if (flag2 !== void 0) return flag2;
  let hint = nearest(
    name,
    all.map((candidate) => candidate.name)
  );
  throw new UsageError(
    `unknown flag --${name}${hint === void 0 ? "" : `; did you mean --${hint}?`} (--help lists all flags)`
  );
}
function valueAfter(flag2, next) {
  if (next === void 0 || isFlag(next))
    throw new UsageError(`--${flag2.name} needs a value: --${flag2.name}=${flag2.value}`);
  return next;
}
function readFlag(flag2, text2) {
  try {
    return flag2.read(text2 ?? flag2.default);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--${flag2.name}: ${error.message}`) : error;
  }
}
function helpText(flags) {
  let all = Object.values(flags), lettered = all.some(({ letter }) => letter !== ""), rows = all.map((flag2) => ({ left: flagHelp(flag2, lettered), right: `${flag2.help}${defaultHelp(flag2)}` })), width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return rows.map(({ left, right }) => `${left.padEnd(width)}${right}`).join(`
`);
}
function flagHelp({ letter, name, value }, lettered) {
  let short = letter === "" ? "    " : `-${letter}, `;
  return `  ${lettered ? short : ""}--${name}${value === "" ? "" : `=${value}`}`;
}
function defaultHelp(flag2) {
  return flag2.default === "" ? "" : ` (default ${flag2.default})`;
}
function nearest(word, known) {
  let best = known.toSorted((a, b) => distance(a, word) - distance(b, word))[0];
  return best !== void 0 && distance(best, word) <= Math.max(3, word.length / 2) ? best : void 0;
}
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let [i, letter] of [...a].entries()) {
    let next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

export {
  UsageError,
  flag,
  toggle,
  text,
  readBoolean,
  oneOf,
  parseCommandLine,
  parseFlags,
  splitCommand,
  helpText,
  nearest
};
