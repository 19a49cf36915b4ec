import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  escapeText
} from "./chunk-OWKCFAAY.js";
import {
  ConfigError,
  NameError,
  StatusError,
  TransportError
} from "./chunk-E6FJZVAF.js";
import {
  UsageError
} from "./chunk-OWEQTUCH.js";

// src/cli/explain-error.ts
var SeveralErrors = class extends Error {
  name = "SeveralErrors";
  errors;
  constructor(errors) {
    super(`${errors.length} errors`), this.errors = errors;
  }
};
function explainError(error) {
  return error instanceof SeveralErrors ? error.errors.map(explainError).join("") : `${escapeText(sentence(error))}
`;
}
var toMend = [UsageError, ConfigError, NameError];
function sentence(error) {
  return error instanceof StatusError ? statusSentence(error) : toMend.some((type) => error instanceof type) ? `error: ${error.message}` : error instanceof TransportError ? `error: ${withCauses(error)}` : `error: ${error instanceof Error ? error.stack ?? error.message : String(error)}`;
}
function statusSentence({ reason, message }) {
  return reason === "Unauthorized" ? `error: You must be logged in to the server (${message})` : reason === "" ? `Error from server: ${message}` : `Error from server (${reason}): ${message}`;
}
var maxCauses = 4;
function withCauses(error) {
  let messages = [];
  for (let e = error; e instanceof Error && messages.length < maxCauses; e = e.cause)
    messages.push(e.message || e.code || e.name);
  return messages.join(": ");
}

export {
  SeveralErrors,
  explainError
};
