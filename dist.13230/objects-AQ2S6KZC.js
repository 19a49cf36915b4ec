import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  listOf,
  printDocument,
  withoutManagedFields
} from "./chunk-NOCQGWEH.js";
import "./chunk-OWKCFAAY.js";
import "./chunk-2XO67IZH.js";
import "./chunk-E4OOXGFG.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";
export {
  listOf,
  printDocument,
  withoutManagedFields
};
