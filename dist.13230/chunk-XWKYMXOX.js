import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/model/version.ts
var version = "0.1.0", apiLevel = { major: "1", minor: "23", patch: "17" };

export {
  version,
  apiLevel
};
