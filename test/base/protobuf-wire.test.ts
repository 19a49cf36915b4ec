/** Tests the Protobuf wire format: encoding and decoding are exact, and decoding is safe for arbitrary bytes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WireError, WireReader, WireWriter } from '../../src/wire/protobuf/protobuf-wire.ts'

const read = (hex: string) => new WireReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

function written(write: (writer: WireWriter) => void): string {
  const writer = new WireWriter()
  write(writer)
  return writer.finish().toString('hex')
}

describe('Protobuf wire format', () => {
  it('values are encoded according to the Protobuf specification', () => {
    assert.equal(
      written((w) => w.integer(1, 150)),
      '089601',
    )
    assert.equal(
      written((w) => w.string(2, 'testing')),
      '120774657374696e67',
    )
    assert.equal(
      written((w) => w.message(3, (inner) => inner.integer(1, 150))),
      '1a03089601',
    )
    assert.equal(
      written((w) => w.integer(1, -2)),
      '08feffffffffffffffff01',
    )
    assert.equal(
      written((w) => w.fixed32(1, 1)),
      '0d01000000',
    )
    assert.equal(
      written((w) => w.bool(536_870_911, true)),
      'f8ffffff0f01',
    )
  })

  it('every integer is decoded, or rejected if a number cannot represent it', () => {
    const numbers = [0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 35 - 1, 2 ** 35, 2 ** 53 - 1]
    for (const value of numbers.flatMap((n) => [n, -n])) {
      const reader = read(written((w) => w.integer(1, value)))
      assert.equal(reader.next(), 1)
      assert.equal(reader.int64(), value === 0 ? 0 : value)
      assert.equal(reader.next(), 0)
    }
    for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)]) {
      const hex = written((w) => w.integer(1, value))
      const exact = read(hex)
      exact.next()
      assert.equal(exact.int64Big(), value)
      const rounded = read(hex)
      rounded.next()
      assert.throws(() => rounded.int64(), WireError)
    }
    const largest = read(written((w) => w.integer(1, 2n ** 64n - 1n)))
    largest.next()
    assert.equal(largest.uint64Big(), 2n ** 64n - 1n)
    assert.throws(() => written((w) => w.integer(1, 1.5)), WireError)
    assert.throws(() => written((w) => w.integer(1, 2 ** 53)), WireError)
  })

  it('messages of every size can be encoded with reserved space in front and decoded', () => {
    for (const size of [0, 1, 127, 128, 16_383, 16_384, 300_000]) {
      const value = new Uint8Array(size).fill(7)
      const writer = new WireWriter(5)
      writer.message(1, (a) => a.message(2, (b) => b.bytes(3, value)))
      writer.double(4, 0.1)
      const reader = new WireReader(writer.finish().subarray(5))
      assert.equal(reader.next(), 1)
      const a = reader.message()
      assert.equal(a.next(), 2)
      const b = a.message()
      assert.equal(b.next(), 3)
      assert.deepEqual(b.bytes(), value)
      assert.equal(reader.next(), 4)
      assert.equal(reader.double(), 0.1)
      assert.equal(reader.next(), 0)
    }
  })

  it('unknown fields are skipped, including groups', () => {
    const reader = read('08ff01 110102030405060708 1a020102 23 0801 2b 2c 24 3501020304 3801')
    const fields: number[] = []
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      fields.push(field)
      reader.skip()
    }
    assert.deepEqual(fields, [1, 2, 3, 4, 6, 7])
  })

  it('malformed messages are rejected', () => {
    const skipAll = (reader: WireReader) => {
      while (reader.next() !== 0) reader.skip()
    }
    const malformed = {
      'a varint cut off': '08 80',
      'an eleven-byte varint': `08 ${'80'.repeat(10)}01`,
      'field 0': '00 01',
      'a tag that exceeds 32 bits': 'ffffffffff01 01',
      'wire type 7': '0f',
      'a length past the end of the message': '0a05 0102',
      'a length of 2^31': '0affffffff07',
      'a negative length': '0affffffffffffffffff01',
      'fixed64 cut off': '09 0102',
      'a group without an end tag': '0b 0801',
      'an end tag without a group': '0c',
      "a group closed by another group's end tag": '0b 14',
      'groups without end': '0b'.repeat(100_000),
    }
    for (const [name, hex] of Object.entries(malformed)) assert.throws(() => skipAll(read(hex)), WireError, name)
  })

  it('values of another wire type, invalid UTF-8 and excessive nesting are rejected', () => {
    const expectsText = read('0801')
    expectsText.next()
    assert.throws(() => expectsText.string(), WireError)
    const badText = read('0a02c328')
    badText.next()
    assert.throws(() => badText.string(), WireError)
    const goodText = read(written((w) => w.string(1, 'a\ufffd\u{1f600}')))
    goodText.next()
    assert.equal(goodText.string(), 'a\ufffd\u{1f600}')
    const nest = (writer: WireWriter, depth: number): void => {
      if (depth > 0) writer.message(1, (inner) => nest(inner, depth - 1))
    }
    const descend = (reader: WireReader): void => {
      if (reader.next() !== 0) descend(reader.message())
    }
    descend(read(written((w) => nest(w, 512))))
    assert.throws(() => descend(read(written((w) => nest(w, 513)))), WireError)
  })
})
