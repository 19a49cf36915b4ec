/** Tests expressions that create objects of named types, and their conversion to JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Budget } from '../../../src/api/cel/budget.ts'
import type { FindStruct } from '../../../src/api/cel/checker.ts'
import { dynamicType } from '../../../src/api/cel/json-values.ts'
import { loadPatternEngine } from '../../../src/api/cel/pattern-engine.ts'
import { compileRule } from '../../../src/api/cel/program.ts'
import { toJsonSliced } from '../../../src/api/cel/to-json.ts'
import { types } from '../../../src/api/cel/types.ts'
import { CelError, type Value } from '../../../src/api/cel/values.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

const readPattern = await loadPatternEngine()
const fields = new Map([
  ['a', { type: types.dyn }],
  ['b', { type: types.dyn }],
  ['text', { type: types.string }],
])
const findStruct: FindStruct = (name) =>
  name === 'Box' || name.startsWith('Box.') ? { kind: 'object', fields, name } : undefined

function compile(rule: string, options: { findStruct?: FindStruct } = { findStruct }) {
  const variables = new Map([['big', dynamicType]])
  return runToCompletion(compileRule(rule, { variables, readPattern, result: 'any', ...options }))
}

/** Returns the result as JSON, or the error. */
function evaluate(rule: string, big: Value = null) {
  const made = compile(rule)
  if (made.outcome === 'invalid') return made.why
  try {
    return runToCompletion(toJsonSliced(made.program.evaluate([big], new Budget(1_000_000))))
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
}

test('an object expression includes only the optional fields that are present', () => {
  assert.deepEqual(evaluate("Box{a: 1, b: Box.b{text: 'x'}, ?text: optional.none()}"), { a: 1, b: { text: 'x' } })
  assert.deepEqual(evaluate("[Box{a: {'__proto__': [dyn(true), null]}}, Box{}]"), [
    { a: JSON.parse('{"__proto__": [true, null]}') },
    {},
  ])
  assert.deepEqual(evaluate('Box{a: 1}.a == 1 && has(Box{a: 1}.a) && !has(Box{a: 1}.b)'), true)
  assert.deepEqual(evaluate("Box{a: duration('90s'), b: timestamp('2024-01-02T03:04:05Z')}"), {
    a: '90s',
    b: '2024-01-02T03:04:05Z',
  })
  assert.deepEqual(evaluate("[dyn(1.5), dyn(2u), b'x']"), [1.5, 2, 'eA=='])
})

test('an object expression with an unknown type, an unknown field or a value of the wrong type does not compile', () => {
  const rows: [string, RegExp][] = [
    ['Crate{}', /<input>:1:1: undeclared reference to 'Crate'/],
    ['Box{c: 1}', /<input>:1:6: expected type of field 'c' is '' but provided type is 'int'/],
    ['Box{text: 1}', /expected type of field 'text' is 'string' but provided type is 'int'/],
    ['Box{', /<input>:1:5: Syntax error: mismatched input '<EOF>'/],
    ['Box{a 1}', /expecting ':'/],
    ['[Box{}, Box.a{}]', /expected type 'Box' but found 'Box.a'/],
  ]
  for (const [rule, why] of rows) assert.match(String(evaluate(rule)), why, rule)
  const made = compile("jsonpatch.escapeKey('a/b')", {})
  assert.match(made.outcome === 'invalid' ? made.why : '', /undeclared reference/)
})

test('the type name of an object expression must match the path of its field', () => {
  assert.deepEqual(evaluate('Box{a: [Box.a{}, Box.a{b: Box.a.b{}}]}'), { a: [{}, { b: {} }] })
  assert.match(String(evaluate('Box{a: Box.b{}}')), /unexpected type name "Box.b", expected "Box.a"/)
})

test('an expression whose result is too large or cannot be represented in JSON fails', () => {
  assert.equal(evaluate('{1: 2}'), 'map key must be a string, not int')
  assert.equal(evaluate('1.0 / 0.0'), 'a value of type double cannot be converted to JSON')
  const doubled = Array.from({ length: 18 }).reduce<string>((rule) => `[${rule}].map(x, [x, x])[0]`, '1')
  assert.equal(evaluate(doubled), 'the result is too large')
  assert.equal(evaluate("jsonpatch.escapeKey('a/b~c')"), 'a~1b~0c')
})
