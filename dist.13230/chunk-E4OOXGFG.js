import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/base/utf8-order.ts
function compareUtf8(a, b) {
  let length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}
var few = 32;
function sortUtf8(keys) {
  let sorted = 1;
  for (; sorted < keys.length && compareUtf8(keys[sorted - 1], keys[sorted]) <= 0; ) sorted++;
  if (sorted < keys.length && keys.length > few) return keys.sort(compareUtf8);
  for (; sorted < keys.length; sorted++) insertLast(keys, sorted);
  return keys;
}
function insertLast(keys, index) {
  let key = keys[index], place = index;
  for (; place > 0 && compareUtf8(keys[place - 1], key) > 0; place--) keys[place] = keys[place - 1];
  keys[place] = key;
}
function isSurrogate(unit) {
  return unit >= 55296 && unit <= 57343;
}

export {
  compareUtf8,
  sortUtf8
};
