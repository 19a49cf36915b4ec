import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/store/lmdb/pack.ts
var Packer = class {
  #bytes;
  #used = 0;
  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }
  get size() {
    return this.#used;
  }
  number(value) {
    this.#reserve(8), this.#used = this.#bytes.writeDoubleLE(value, this.#used);
  }
  key(key) {
    this.#reserve(4 + 3 * key.length);
    let size = this.#bytes.write(key, this.#used + 4);
    this.#bytes.writeUInt32LE(size, this.#used), this.#used += 4 + size;
  }
  /** Packs bytes, with room before them that counts as theirs; returns the packed copy, valid until the next call. */
  bytes(bytes, headroom = 0) {
    let size = headroom + bytes.length;
    this.#reserve(4 + size), this.#bytes.writeUInt32LE(size, this.#used);
    let start = this.#used + 4;
    return this.#bytes.set(bytes, start + headroom), this.#used = start + size, this.#bytes.subarray(start, this.#used);
  }
  /** The packed records, to be transferred. The packer is spent. */
  finish() {
    return this.#bytes.buffer.transfer(this.#used);
  }
  #reserve(size) {
    let needed = this.#used + size;
    if (needed <= this.#bytes.length) return;
    let grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#used)), this.#bytes = grown;
  }
}, Unpacker = class {
  #bytes;
  #at = 0;
  constructor(block) {
    this.#bytes = Buffer.from(block);
  }
  get done() {
    return this.#at >= this.#bytes.length;
  }
  number() {
    let value = this.#bytes.readDoubleLE(this.#at);
    return this.#at += 8, value;
  }
  key() {
    return this.bytes().toString("utf8");
  }
  /** The bytes themselves, inside the block: they live as long as anybody holds them. */
  bytes() {
    let start = this.#at + 4;
    return this.#at = start + this.#bytes.readUInt32LE(this.#at), this.#bytes.subarray(start, this.#at);
  }
};

export {
  Packer,
  Unpacker
};
