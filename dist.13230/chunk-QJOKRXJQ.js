import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/base/clock.ts
var systemClock = {
  now: () => Date.now(),
  monotonic: () => performance.now()
};

export {
  systemClock
};
