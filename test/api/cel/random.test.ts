/**
 * Tests random rules in which most subexpressions have the type dyn. Each rule must either be rejected or evaluate to
 * true, false or an error.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BudgetExceeded } from '../../../src/api/cel/budget.ts'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { type Data, outcomeOf } from './evaluate-rule.ts'

const text: JsonObject = { type: 'string' }
const schema: JsonObject = {
  type: 'object',
  properties: {
    s: text,
    i: { type: 'integer' },
    n: { type: 'number' },
    l: { type: 'array', items: text },
    set: { type: 'array', items: { type: 'integer' }, 'x-orch-list-type': 'set' },
    m: { type: 'object', additionalProperties: text },
    p: { 'x-orch-int-or-string': true },
    t: { type: 'string', format: 'date-time' },
    d: { type: 'string', format: 'duration' },
    b: { type: 'string', format: 'byte' },
    o: { type: 'object', properties: { x: text } },
  },
}
const scalars = { s: 'a😀b', i: 5, n: 1.5, p: '5%', t: '2020-01-01T00:00:00Z', d: '1h', b: 'YWI=' }
const self: Json = { ...scalars, l: ['a', ''], set: [1, 2], m: { ['__proto__']: 'z' }, o: { x: 'y' } } as Json
const data: Data = { schema, self }

const fields = [...'sinlmptdbo', 'set'].map((name) => `self.${name}`)
const literals = [
  '1',
  '0',
  '-1',
  '2u',
  '1.5',
  '"a"',
  '""',
  'b"x"',
  'null',
  'true',
  '[]',
  '{}',
  'int',
  '"1h"',
  '"(a|b)*"',
]
const atoms = [...fields, ...literals, 'self', 'oldSelf', 'x', '9223372036854775807', '{"a": dyn(1)}']
const members = [
  ...['size', 'contains', 'matches', 'find', 'findAll', 'charAt', 'indexOf', 'lastIndexOf', 'join', 'lowerAscii'],
  ...['replace', 'split', 'substring', 'trim', 'isSorted', 'sum', 'min', 'max', 'getHours', 'getDayOfYear', 'getQuery'],
]
const globals = [
  ...[
    'size',
    'int',
    'uint',
    'double',
    'string',
    'bytes',
    'bool',
    'timestamp',
    'duration',
    'type',
    'url',
    'isURL',
    'has',
  ],
]
const operators = ['+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in']
const macros = ['all', 'exists', 'exists_one', 'map', 'filter']

let state = 20_261_116

function random(below: number): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}

function pick(list: readonly string[]): string {
  return list[random(list.length)]!
}

/**
 * Returns a random expression in which most subexpressions have the type dyn. Otherwise, hardly any rule would pass the
 * type checker.
 */
function expression(depth: number): string {
  const made = depth <= 0 ? pick(atoms) : operation(() => expression(depth - 1))
  return random(5) > 0 ? `dyn(${made})` : made
}

function operation(part: () => string): string {
  const parts = (most: number) => Array.from({ length: random(most + 1) }, part).join(', ')
  const forms = [
    () => pick(atoms),
    () => `(${part()} ${pick(operators)} ${part()})`,
    () => `${part()}.${pick(members)}(${parts(3)})`,
    () => `${pick(globals)}(${parts(2)})`,
    () => `${part()}.${pick(macros)}(x, ${part()})`,
    () => `[${parts(3)}]`,
    () => `(${part()} ? ${part()} : ${part()})`,
    () => `${part()}[${part()}]`,
    () => `${pick(['!', '-'])}${part()}`,
  ]
  return forms[random(forms.length)]!()
}

test('compiling and evaluating random rules never throws an unexpected error', () => {
  const outcomeCounts = { refused: 0, decided: 0, faulty: 0 }
  for (let i = 0; i < 4000; i++) {
    const rule = `dyn(${expression(1 + random(4))}) == true`
    try {
      const outcome = outcomeOf(rule, data)
      if (typeof outcome === 'boolean') outcomeCounts.decided++
      else if (outcome.startsWith('compilation failed') || outcome.startsWith('program')) outcomeCounts.refused++
      else outcomeCounts.faulty++
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw new Error(rule, { cause: error })
    }
  }
  for (const [kind, count] of Object.entries(outcomeCounts)) assert.ok(count > 100, `${kind}: ${count}`)
})
