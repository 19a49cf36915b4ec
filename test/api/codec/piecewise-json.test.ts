/** Compares the piecewise parser with the native parser, for valid and invalid documents with many pieces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSliced } from '../../../src/api/codec/json.ts'
import { parsePiecewise } from '../../../src/api/codec/piecewise-json.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import { seeded } from '../../storage/store/random-source.ts'

const parse = (text: string) => runToCompletion(parsePiecewise(text))
const filler = 'x'.repeat(40_000)
/** Enough members to split the document into several pieces. */
const items = Array.from({ length: 2000 }, (_, i) => `{"id":${i},"text":"a,b]}\\"${i}"}`).join()

const documents: readonly string[] = [
  `[${items}]`,
  ` { "list" : [ ${items} ] , "after" : 1 } `,
  `{"a":{"b":{"c":[${items}]},"d":[]},"e":[[${items}],[${items}]]}`,
  `[1,[${items}],2,[${items}],{},[]]`,
  `{"__proto__":[${items}],"a":1,"a":[${items}],"1":2,"0":3}`,
  `["${filler}","${filler}",["${filler}",null],{"${filler}":"${filler}","k":[0,"${filler}",1]}]`,
  `{"a":"${filler}"}`,
  '{}',
  '"text"',
]

test('parsing a document in pieces returns the same value as the native parser', () => {
  for (const text of documents) {
    const parsed = parse(text)
    assert.deepEqual(parsed, JSON.parse(text), text.slice(0, 80))
    assert.deepEqual(Object.keys(parsed as object), Object.keys(JSON.parse(text)), text.slice(0, 80))
  }
})

const faults: readonly string[] = [
  `[${items}`,
  `[${items}}`,
  `[${items},]`,
  `[${items},,${items}]`,
  `[,[${items}]]`,
  `[[${items}]1]`,
  `[[${items}][${items}]]`,
  `[1[${items}]]`,
  `[${items}][${items}]`,
  `[${items}] x`,
  `x [${items}]`,
  `{"a":1,[${items}]}`,
  `{"a" [${items}]}`,
  `{${items}}`,
  `{"a":{"b":[${items}],}}`,
  '[1,2',
]

test('a document with a syntax error is rejected, regardless of the position of the error', () => {
  for (const text of faults) {
    assert.throws(() => JSON.parse(text), SyntaxError)
    assert.throws(() => parse(text), SyntaxError, `${text.slice(0, 20)}...${text.slice(-20)}`)
  }
})

test('the error for a long invalid document contains the position of the fault', () => {
  const text = `[${items},"a" 1,${items}]`
  assert.throws(() => parse(text), { message: new RegExp(`at position ${items.length + 6}$`) })
})

test('a document with one changed character is accepted only if the native parser also accepts it', () => {
  const random = seeded(20)
  for (let i = 0; i < 200; i++) {
    const text = documents[i % 5]!
    const at = random.below(text.length)
    const changed = text.slice(0, at) + random.pick([...',:{}[]"1 x']) + text.slice(at + (i % 2))
    let expected: unknown
    try {
      expected = JSON.parse(changed)
    } catch {
      assert.throws(() => parse(changed), SyntaxError, changed.slice(at - 20, at + 20))
      continue
    }
    assert.deepEqual(parse(changed), expected)
  }
})

test('parsing a megabyte of small objects yields to other tasks after each piece', () => {
  const text = `{"list":[${Array(11_000).fill('{"kind":"A","metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}').join()}]}`
  const steps = (body: string) => {
    let count = 0
    for (const _ of parseSliced(Buffer.from(body))) count++
    return count
  }
  const yields = steps(text)
  // The scan yields once per 64 KiB, the parser once per 32 KiB, and the final count once per ten objects.
  assert.ok(
    yields > text.length / 65_536 + text.length / 33_000 + 1000,
    `${yields} yields in ${text.length} characters`,
  )
})
