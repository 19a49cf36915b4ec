import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/store/store.ts
var StoreError = class extends Error {
  name = "StoreError";
  /** True when the write may have happened or may yet happen: its answer was lost, not refused. */
  ambiguous;
  constructor(message, options = {}) {
    super(message, options), this.ambiguous = options.ambiguous ?? !1;
  }
}, RevisionGone = class extends StoreError {
  name = "RevisionGone";
  revision;
  oldest;
  constructor(revision, oldest) {
    super(`revision ${revision} is gone, the oldest kept is ${oldest}`), this.revision = revision, this.oldest = oldest;
  }
}, RevisionAhead = class extends StoreError {
  name = "RevisionAhead";
  revision;
  current;
  constructor(revision, current) {
    super(`revision ${revision} is ahead of the store, which is at ${current}`), this.revision = revision, this.current = current;
  }
}, ValueTooLarge = class extends StoreError {
  name = "ValueTooLarge";
  limit;
  constructor(size, limit) {
    super(`a value of ${size} bytes is over the store's limit of ${limit}`), this.limit = limit;
  }
}, StoreFull = class extends StoreError {
  name = "StoreFull";
};

export {
  StoreError,
  RevisionGone,
  RevisionAhead,
  ValueTooLarge,
  StoreFull
};
