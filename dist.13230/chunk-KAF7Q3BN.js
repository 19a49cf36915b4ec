import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  UsageError,
  helpText,
  parseCommandLine
} from "./chunk-OWEQTUCH.js";

// src/cli/command.ts
function defineCommand(definition) {
  return {
    help: helpOf(definition),
    run: async (context, args) => await definition.run(context, parseCommandLine(definition.flags, args))
  };
}
function helpOf({ name, forms, about, examples, flags }) {
  return `${about}

Usage:
${forms.map((form) => `  orchctl ${name} ${form}`.trimEnd()).join(`
`)}

Examples:
${examples.map((example) => `  ${example}`).join(`
`)}

Flags:
${helpText(flags)}
`;
}
function refuseWords(words) {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}`);
}

export {
  defineCommand,
  refuseWords
};
