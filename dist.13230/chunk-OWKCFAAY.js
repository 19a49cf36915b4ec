import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/cli/printers/escape.ts
var unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
function escapeLine(text) {
  return text.replaceAll(unprintable, show);
}
function escapeText(text) {
  return text.replaceAll(
    unprintable,
    (character) => character === `
` || character === "	" ? character : show(character)
  );
}
function escapeJson(text) {
  return text.replaceAll(unprintable, (character) => character === `
` ? character : unicodeEscape(character));
}
function show(character) {
  let code = character.charCodeAt(0);
  return code === 127 ? "^?" : code < 32 ? `^${String.fromCharCode(code + 64)}` : unicodeEscape(character);
}
function unicodeEscape(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export {
  escapeLine,
  escapeText,
  escapeJson
};
