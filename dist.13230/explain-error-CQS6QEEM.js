import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  SeveralErrors,
  explainError
} from "./chunk-B3LL3SUR.js";
import "./chunk-OWKCFAAY.js";
import "./chunk-E6FJZVAF.js";
import "./chunk-OWEQTUCH.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";
export {
  SeveralErrors,
  explainError
};
