import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/base/protobuf-wire.ts
import { isUtf8 } from "node:buffer";
var WireError = class extends Error {
  name = "WireError";
}, varint = 0, fixed64 = 1, delimited = 2, groupStart = 3, groupEnd = 4, fixed32 = 5, two32 = 4294967296, maxDepth = 100, maxField = 536870911, WireReader = class _WireReader {
  wireType = varint;
  #at;
  #field = 0;
  // The halves of the last varint, as unsigned 32-bit numbers.
  #low = 0;
  #high = 0;
  #end;
  #bytes;
  #depth;
  constructor(bytes, depth = 0) {
    if (depth > maxDepth) throw new WireError(`messages nested deeper than ${maxDepth}`);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.#at = 0, this.#end = bytes.byteLength, this.#depth = depth;
  }
  /** The number of the next field, 0 at the end of the message. */
  next() {
    if (this.#at === this.#end) return 0;
    if (this.#varint(), this.#high !== 0) throw new WireError("a tag longer than 32 bits");
    let field = this.#low >>> 3;
    if (field === 0) throw new WireError("field number 0");
    return this.wireType = wireTypeOf(this.#low & 7), this.#field = field, field;
  }
  /** A signed 64-bit integer; throws when a number cannot hold it exactly. */
  int64() {
    this.#expect(varint), this.#varint();
    let value = (this.#high | 0) * two32 + this.#low;
    return exact(value);
  }
  /** An unsigned 64-bit integer; throws when a number cannot hold it exactly. */
  uint64() {
    return this.#expect(varint), this.#varint(), exact(this.#high * two32 + this.#low);
  }
  int64Big() {
    return BigInt.asIntN(64, this.uint64Big());
  }
  uint64Big() {
    return this.#expect(varint), this.#varint(), BigInt(this.#high) << 32n | BigInt(this.#low);
  }
  /** A signed 32-bit integer or an enum. As everywhere, higher bits of the varint are dropped. */
  int32() {
    return this.#expect(varint), this.#varint(), this.#low | 0;
  }
  uint32() {
    return this.int32() >>> 0;
  }
  bool() {
    return this.#expect(varint), this.#varint(), this.#low !== 0 || this.#high !== 0;
  }
  fixed32() {
    return this.#expect(fixed32), this.#bytes.readUInt32LE(this.#take(4));
  }
  fixed64Big() {
    return this.#expect(fixed64), this.#bytes.readBigUInt64LE(this.#take(8));
  }
  double() {
    return this.#expect(fixed64), this.#bytes.readDoubleLE(this.#take(8));
  }
  float() {
    return this.#expect(fixed32), this.#bytes.readFloatLE(this.#take(4));
  }
  /** A view of the field's bytes, sharing memory with what is read. */
  view() {
    let length = this.#length(), start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }
  /** A copy of the field's bytes, so that holding it does not hold the whole message. */
  bytes() {
    let view = this.view(), copy = new Uint8Array(view.length);
    return copy.set(view), copy;
  }
  string() {
    let length = this.#length(), start = this.#take(length), text = this.#bytes.toString("utf8", start, start + length);
    if (text.includes("\uFFFD") && !isUtf8(this.#bytes.subarray(start, start + length)))
      throw new WireError(`field ${this.#field} is not UTF-8`);
    return text;
  }
  /** A reader of the message that this field holds. */
  message() {
    return new _WireReader(this.view(), this.#depth + 1);
  }
  /** Passes over the value of a field that nobody asked for. */
  skip() {
    this.#skip(this.wireType, this.#field, this.#depth);
  }
  #skip(wireType, field, depth) {
    switch (wireType) {
      case varint:
        this.#varint();
        return;
      case fixed64:
        this.#take(8);
        return;
      case delimited:
        this.#varint(), this.#take(this.#checkedLength());
        return;
      case groupStart:
        this.#skipGroup(field, depth + 1);
        return;
      case groupEnd:
        throw new WireError(`the end of group ${field} without its start`);
      case fixed32:
        this.#take(4);
        return;
    }
  }
  #skipGroup(field, depth) {
    if (depth > maxDepth) throw new WireError(`groups nested deeper than ${maxDepth}`);
    for (; ; ) {
      let inner = this.next();
      if (inner === 0) throw new WireError(`group ${field} without its end`);
      if (this.wireType === groupEnd) {
        if (inner !== field) throw new WireError(`group ${field} ended by ${inner}`);
        return;
      }
      this.#skip(this.wireType, inner, depth);
    }
  }
  #length() {
    return this.#expect(delimited), this.#varint(), this.#checkedLength();
  }
  #checkedLength() {
    if (this.#high !== 0 || this.#low > this.#end - this.#at) throw new WireError("a length beyond the end");
    return this.#low;
  }
  #take(count) {
    let start = this.#at;
    if (count > this.#end - start) throw new WireError("a value beyond the end");
    return this.#at = start + count, start;
  }
  // At most ten bytes; of the tenth only one bit has a place.
  #varint() {
    let low = 0, high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at === this.#end) throw new WireError("a varint beyond the end");
      let byte = this.#bytes[this.#at++], bits = byte & 127;
      if (shift < 28 ? low |= bits << shift : shift === 28 ? (low |= bits << 28, high = bits >>> 4) : high |= shift === 63 ? (bits & 1) << 31 : bits << shift - 32, byte < 128) {
        this.#low = low >>> 0, this.#high = high >>> 0;
        return;
      }
    }
    throw new WireError("a varint longer than ten bytes");
  }
  #expect(wireType) {
    if (this.wireType !== wireType)
      throw new WireError(`field ${this.#field} has wire type ${this.wireType}, not ${wireType}`);
  }
};
function wireTypeOf(bits) {
  if (bits > 5) throw new WireError(`wire type ${bits}`);
  return bits;
}
function exact(value) {
  if (!Number.isSafeInteger(value)) throw new WireError("an integer beyond 2^53");
  return value;
}
var WireWriter = class {
  #buffer;
  #at;
  constructor(room = 0, size = 256) {
    this.#buffer = Buffer.allocUnsafe(Math.max(size, room + 16)), this.#buffer.fill(0, 0, room), this.#at = room;
  }
  /** A signed or unsigned 64-bit integer, an enum or any smaller integer. */
  integer(field, value) {
    if (this.#tag(field, varint), typeof value == "bigint") this.#writeBig(BigInt.asUintN(64, value));
    else if (Number.isSafeInteger(value)) value < 0 ? this.#writeBig(BigInt.asUintN(64, BigInt(value))) : this.#writeVarint(value);
    else throw new WireError(`not an exact integer: ${value}`);
  }
  bool(field, value) {
    this.integer(field, value ? 1 : 0);
  }
  bytes(field, value) {
    this.#tag(field, delimited), this.#writeVarint(value.length), this.#reserve(value.length), this.#buffer.set(value, this.#at), this.#at += value.length;
  }
  string(field, value) {
    let length = Buffer.byteLength(value);
    this.#tag(field, delimited), this.#writeVarint(length), this.#reserve(length), this.#buffer.write(value, this.#at, "utf8"), this.#at += length;
  }
  fixed32(field, value) {
    this.#tag(field, fixed32), this.#reserve(4), this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }
  fixed64(field, value) {
    this.#tag(field, fixed64), this.#reserve(8), this.#at = this.#buffer.writeBigUInt64LE(value, this.#at);
  }
  double(field, value) {
    this.#tag(field, fixed64), this.#reserve(8), this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }
  /** A message within: its length goes in front once it is known, moving the body where one byte is not enough. */
  message(field, write) {
    this.#tag(field, delimited), this.#reserve(1);
    let start = ++this.#at;
    write(this);
    let length = this.#at - start, extra = varintSize(length) - 1;
    extra > 0 && (this.#reserve(extra), this.#buffer.copyWithin(start + extra, start, this.#at)), this.#at = start - 1, this.#writeVarint(length), this.#at += length;
  }
  /** What was written, the room in front included. The writer is done with it. */
  finish() {
    return this.#buffer.subarray(0, this.#at);
  }
  #tag(field, wireType) {
    if (!Number.isInteger(field) || field < 1 || field > maxField) throw new WireError(`not a field number: ${field}`);
    this.#writeVarint(field * 8 + wireType);
  }
  #writeVarint(value) {
    this.#reserve(10);
    let rest = value;
    for (; rest >= 128; )
      this.#buffer[this.#at++] = rest % 128 | 128, rest = Math.floor(rest / 128);
    this.#buffer[this.#at++] = rest;
  }
  #writeBig(value) {
    this.#reserve(10);
    let rest = value;
    for (; rest >= 0x80n; )
      this.#buffer[this.#at++] = Number(rest & 0x7fn) | 128, rest >>= 7n;
    this.#buffer[this.#at++] = Number(rest);
  }
  #reserve(count) {
    let needed = this.#at + count;
    if (needed <= this.#buffer.length) return;
    let grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#at), this.#buffer = grown;
  }
};
function varintSize(value) {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

export {
  WireReader,
  WireWriter
};
