import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  withConnection
} from "./chunk-LO4CFZUT.js";
import "./chunk-4V7T7OHM.js";
import "./chunk-E6FJZVAF.js";
import "./chunk-XWKYMXOX.js";
import "./chunk-RYN6PHQP.js";
import "./chunk-Q5OU73WL.js";
import "./chunk-K3AUPHIL.js";
export {
  withConnection
};
