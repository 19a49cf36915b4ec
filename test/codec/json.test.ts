/** Strict JSON in: what the native parser would hide or, in some versions of it, get wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson, parseOwnJson } from '../../src/codec/json.ts'

test('a key that is spelt with an escape is itself, whatever was parsed before it', () => {
  const strictly = (text: string) => parseJson(Buffer.from(text)).value
  for (const parse of [strictly, (text: string) => parseOwnJson(Buffer.from(text))]) {
    assert.deepEqual(parse('{"a":1,"\\\\":2}'), { a: 1, '\\': 2 })
    assert.deepEqual(parse('{"a":1,"\\"":2}'), { a: 1, '"': 2 })
    assert.deepEqual(parse('{"a":1,"\\u0023":2}'), { a: 1, '#': 2 })
    assert.deepEqual(parse('{".":{},"k:{\\u005c":{}}'), { '.': {}, 'k:{\\': {} })
    assert.deepEqual(parse('{".":{},"k:{\\"a\\":1}":{}}'), { '.': {}, 'k:{"a":1}': {} })
    assert.deepEqual(parse('{"b":1,"x\\\\ny":2}'), { b: 1, 'x\\ny': 2 })
    assert.deepEqual(parse('{"b":1,"x\\ny":2}'), { b: 1, 'x\ny': 2 })
    assert.deepEqual(parse('{ "b" : "x\\"y:\\\\" , "\\\\" : [{"c":9007199254740993,"\\\\":1,"\\\\":2}] }'), {
      b: 'x"y:\\',
      '\\': [{ c: 9007199254740993n, '\\': 2 }],
    })
    assert.deepEqual(Object.keys(parse('{"\\\\":1,"\\u005f_proto__":2}') as object), ['\\', '__proto__'])
    assert.throws(() => parse('{"a":1,"\\\\":}'))
  }
})

test('numbers keep their digits, in any number of them', () => {
  const parse = (text: string) => parseJson(Buffer.from(text)).value
  assert.deepEqual(parse('[1e1,1E+2,1e-7,-0.5,123456789012345]'), [10, 100, 1e-7, -0.5, 123456789012345])
  assert.deepEqual(parse('[9007199254740993,1e100]'), [9007199254740993n, 1e100])
  for (const text of ['1e400', '-1e999', '[1E0400]']) assert.throws(() => parse(text), /out of range/)
})
