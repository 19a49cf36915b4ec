/** Tests JSON Patch: the examples of RFC 6902, rejections, limits, and random patches compared with a model. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { applyJsonPatch, jsonPatchSliced, parseJsonPatch, unknownMembers } from '../../../src/api/merge/json-patch.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { canonical, deepFreeze, modelJsonPatch, randomOperations, randomValue, seeded, type Value } from './models.ts'

function patched(document: Json, patch: Json): Json {
  return applyJsonPatch(deepFreeze(document), parseJsonPatch(deepFreeze(patch)))
}

/** Returns the status code of the rejection, or the result of the patch as text. */
function outcome(document: Json, patch: Json): string | number {
  try {
    return canonical(patched(document, patch) as Value)
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}

describe('JSON patches that apply', () => {
  const examples: [string, Json, Json[], Json][] = [
    ['add a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
    ['add an element', { foo: ['a', 'b'] }, [{ op: 'add', path: '/foo/1', value: 'q' }], { foo: ['a', 'q', 'b'] }],
    ['remove a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    ['remove an element', { foo: ['a', 'q', 'b'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['a', 'b'] }],
    ['replace', { baz: 'q', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'b' }], { baz: 'b', foo: 'bar' }],
    [
      'move a member',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'move an element',
      { foo: ['all', 'grass', 'cows', 'eat'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['all', 'cows', 'eat', 'grass'] },
    ],
    [
      'successful tests',
      { baz: 'qux', foo: ['a', 2, 'c'] },
      [
        { op: 'test', path: '/baz', value: 'qux' },
        { op: 'test', path: '/foo/1', value: 2 },
      ],
      { baz: 'qux', foo: ['a', 2, 'c'] },
    ],
    ['add an object', { foo: 1 }, [{ op: 'add', path: '/child', value: { g: {} } }], { foo: 1, child: { g: {} } }],
    ['unknown members are ignored', { a: 1 }, [{ op: 'add', path: '/b', value: 2, xyz: 3 }], { a: 1, b: 2 }],
    ['~01 is ~1', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
    [
      'append',
      { foo: ['bar'] },
      [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
      { foo: ['bar', ['abc', 'def']] },
    ],
    ['remove the last', { l: [1, 2, 3] }, [{ op: 'remove', path: '/l/-1' }], { l: [1, 2] }],
    ['replace from the end', { l: [1, 2, 3] }, [{ op: 'replace', path: '/l/-3', value: 9 }], { l: [9, 2, 3] }],
    ['add at the end', { l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
    ['add before the last', { l: [1, 2] }, [{ op: 'add', path: '/l/-2', value: 3 }], { l: [1, 3, 2] }],
    [
      'a path through the last',
      { l: [{ a: 1 }, { a: 2 }] },
      [
        { op: 'test', path: '/l/-1/a', value: 2 },
        { op: 'copy', from: '/l/-2/a', path: '/l/-1/b' },
      ],
      { l: [{ a: 1 }, { a: 2, b: 1 }] },
    ],
    ['add over a member', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['a copy of the root into itself', { a: 1 }, [{ op: 'copy', from: '', path: '/b' }], { a: 1, b: { a: 1 } }],
    ['move onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['move of a null', { a: null }, [{ op: 'move', from: '/a', path: '/b' }], { b: null }],
    ['insert after the last', [1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    [
      'members named - and 0',
      {},
      [
        { op: 'add', path: '/-', value: 1 },
        { op: 'add', path: '/0', value: 2 },
      ],
      { '-': 1, 0: 2 },
    ],
    [
      'test by value, not by key order',
      { a: { b: 1, c: 2 } },
      [{ op: 'test', path: '/a', value: { c: 2, b: 1 } }],
      { a: { b: 1, c: 2 } },
    ],
    ['replace of a missing member adds it', { a: {} }, [{ op: 'replace', path: '/a/b', value: 1 }], { a: { b: 1 } }],
    ['test of a missing member for null', { a: {} }, [{ op: 'test', path: '/a/b', value: null }], { a: {} }],
    ['no operations', { a: 1 }, [], { a: 1 }],
  ]
  for (const [name, document, patch, result] of examples) {
    test(name, () => assert.equal(outcome(document, patch), canonical(result as Value)))
  }

  test('a value copied by a JSON patch is independent of its source', () => {
    const patch = [
      { op: 'add', path: '/a/n', value: 1 },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/a/n', value: 2 },
      { op: 'add', path: '/b/m', value: 3 },
    ]
    assert.deepEqual(patched({ a: {} }, patch), { a: { n: 2 }, b: { n: 1, m: 3 } })
  })

  test('the result of a JSON patch shares unchanged parts with the original, and the patch can be applied repeatedly', () => {
    const document = deepFreeze({ kept: { x: 1 }, list: [{ y: 1 }, { z: 1 }] })
    const operations = parseJsonPatch(
      deepFreeze([
        { op: 'add', path: '/list/0/n', value: {} },
        { op: 'add', path: '/list/0/n/m', value: 1 },
      ]),
    )
    const result = applyJsonPatch(document, operations) as typeof document
    assert.equal(result.kept, document.kept)
    assert.equal(result.list[1], document.list[1])
    assert.deepEqual(applyJsonPatch(document, operations), result)
  })
})

describe('rejected JSON patches', () => {
  const document = { data: { a: '1' }, list: ['x', 'y'], scalar: 5 }
  const refusals: [string, number, Json][] = [
    ['an object', 400, { op: 'add', path: '/a', value: 1 }],
    ['a string', 400, 'x'],
    ['null', 400, null],
    ['a list of strings', 400, ['add']],
    ['an op that is not a string', 400, [{ op: 1, path: '/data/a', value: 1 }]],
    ['a path that is not a string', 400, [{ op: 'remove', path: ['data'] }]],
    ['no op', 422, [{ path: '/data/a', value: 'x' }]],
    ['an unknown op', 422, [{ op: 'merge', path: '/data', value: {} }]],
    ['an op in another case', 422, [{ op: 'Add', path: '/data/b', value: 1 }]],
    ['no path', 422, [{ op: 'add', value: 'x' }]],
    ['no value', 422, [{ op: 'add', path: '/data/b' }]],
    ['no from', 422, [{ op: 'move', path: '/data/b' }]],
    ['a pointer without a slash', 422, [{ op: 'add', path: 'data/b', value: 1 }]],
    ['a pointer with a bad escape', 422, [{ op: 'add', path: '/data/~2', value: 1 }]],
    ['a pointer that ends in ~', 422, [{ op: 'add', path: '/data/~', value: 1 }]],
    ['remove of nothing', 422, [{ op: 'remove', path: '/data/none' }]],
    ['remove of the root', 422, [{ op: 'remove', path: '' }]],
    ['a missing parent', 422, [{ op: 'add', path: '/none/a', value: 1 }]],
    ['a replace with a missing parent', 422, [{ op: 'replace', path: '/none/a', value: 1 }]],
    ['a path below a scalar', 422, [{ op: 'add', path: '/data/a/b', value: 1 }]],
    ['an insertion beyond the end', 422, [{ op: 'add', path: '/list/3', value: 1 }]],
    ['a replacement at the end', 422, [{ op: 'replace', path: '/list/2', value: 1 }]],
    ['a replacement at -', 422, [{ op: 'replace', path: '/list/-', value: 1 }]],
    ['a removal at -', 422, [{ op: 'remove', path: '/list/-' }]],
    ['a leading zero', 422, [{ op: 'add', path: '/list/01', value: 1 }]],
    ['a sign', 422, [{ op: 'add', path: '/list/+1', value: 1 }]],
    ['an index before the first', 422, [{ op: 'remove', path: '/list/-100' }]],
    ['a negative zero', 422, [{ op: 'remove', path: '/list/-0' }]],
    ['an index in another notation', 422, [{ op: 'add', path: '/list/1e0', value: 1 }]],
    ['an empty index', 422, [{ op: 'add', path: '/list/', value: 1 }]],
    ['a huge index', 422, [{ op: 'add', path: '/list/18446744073709551616', value: 1 }]],
    ['the length of a list', 422, [{ op: 'test', path: '/list/length', value: 2 }]],
    ['a move of nothing', 422, [{ op: 'move', from: '/data/none', path: '/data/b' }]],
    ['a copy of nothing', 422, [{ op: 'copy', from: '/data/none', path: '/data/b' }]],
    ['a move into itself', 422, [{ op: 'move', from: '/data', path: '/data/a' }]],
    ['a test that fails', 422, [{ op: 'test', path: '/data/a', value: '2' }]],
    ['a test of another type', 422, [{ op: 'test', path: '/scalar', value: '5' }]],
    ['a test of a present member for null', 422, [{ op: 'test', path: '/data/a', value: null }]],
    ['a test below a missing parent for null', 422, [{ op: 'test', path: '/none/a', value: null }]],
    ['a test beyond a list for null', 422, [{ op: 'test', path: '/list/9', value: null }]],
    ['a test of a list in another order', 422, [{ op: 'test', path: '/list', value: ['y', 'x'] }]],
    ['a test for part of a value', 422, [{ op: 'test', path: '', value: {} }]],
  ]
  for (const [name, code, patch] of refusals) test(name, () => assert.equal(outcome(document, patch), code))

  test('the Status for a rejected JSON patch has a reason but no causes', () => {
    assert.throws(() => patched({}, [{ op: 'remove', path: '/a' }]), { code: 422, reason: 'Invalid', details: {} })
    assert.throws(() => patched({}, {}), { code: 400, reason: 'BadRequest', details: undefined })
  })
})

describe('JSON patch limits', () => {
  test('a JSON patch may have 10,000 operations but not more', () => {
    const operations = (count: number) => Array.from({ length: count }, () => ({ op: 'add', path: '/a/-', value: 1 }))
    assert.equal((patched({ a: [] }, operations(10_000)) as { a: Json[] }).a.length, 10_000)
    assert.throws(() => patched({ a: [] }, operations(10_001)), { code: 413, reason: 'RequestEntityTooLarge' })
    assert.equal(outcome({}, Array(10_001).fill({})), 413)
  })

  test('a JSON patch whose copies repeatedly double in size is aborted', () => {
    const doubling = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '', path: `/c${i}` }))
    assert.equal(outcome({ a: 'x' }, doubling), 422)
  })

  test('a JSON patch may copy up to 3 MiB', () => {
    const copies = (count: number) => Array.from({ length: count }, () => ({ op: 'copy', from: '/big', path: '/to' }))
    const document = { big: 'x'.repeat(1024 * 1024 - 2) }
    assert.equal(typeof outcome(document, copies(3)), 'string')
    assert.equal(outcome(document, copies(4)), 422)
  })

  test('a JSON patch that repeatedly inserts at the front of a long list is aborted', () => {
    const insertions = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/l/0', value: 1 }))
    assert.equal(typeof outcome({ l: Array(1000).fill(1) }, insertions), 'string')
    assert.equal(outcome({ l: Array(200_000).fill(1) }, insertions), 422)
  })

  test('JSON patch operations may nest values up to 512 levels deep', () => {
    const nested = (depth: number): Json => (depth === 0 ? 'x' : { a: nested(depth - 1) })
    const deepest = '/a'.repeat(300)
    assert.equal(typeof outcome({ r: {} }, [{ op: 'add', path: '/r', value: nested(511) }]), 'string')
    assert.equal(outcome({ r: {} }, [{ op: 'add', path: '/r', value: nested(512) }]), 422)
    assert.equal(outcome({ r: nested(300), s: nested(300) }, [{ op: 'move', from: '/s', path: `/r${deepest}` }]), 422)
    assert.equal(outcome({ r: nested(300) }, [{ op: 'copy', from: '/r', path: `/r${deepest}` }]), 422)
  })

  test('a long chain of move operations in a JSON patch does not overflow the stack', () => {
    const link = (depth: number): Json => (depth === 0 ? {} : { a: link(depth - 1) })
    const document = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, link(200)]))
    const moves = Array.from({ length: 199 }, (_, i) => ({
      op: 'move',
      from: `/k${i}`,
      path: `/k${i + 1}${'/a'.repeat(201)}`,
    }))
    assert.equal(outcome(document, [...moves, { op: 'copy', from: '/k199', path: '/copied' }]), 422)
  })
})

describe('members named like inherited properties are ordinary members', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    test(name, () => {
      assert.equal(outcome({}, [{ op: 'add', path: `/${name}/polluted`, value: 1 }]), 422)
      assert.equal(outcome({}, [{ op: 'remove', path: `/${name}` }]), 422)
      assert.equal(outcome({}, [{ op: 'copy', from: `/${name}`, path: '/x' }]), 422)
      const result = patched({}, [
        { op: 'add', path: `/${name}`, value: {} },
        { op: 'add', path: `/${name}/polluted`, value: 1 },
        { op: 'test', path: `/${name}`, value: { polluted: 1 } },
      ])
      assert.equal(canonical(result as Value), `{"${name}":{"polluted":1}}`)
      assert.equal(Object.getPrototypeOf(result), Object.prototype)
      assert.equal(canonical(patched(result, [{ op: 'remove', path: `/${name}` }]) as Value), '{}')
    })
  }

  test('a JSON patch cannot modify prototypes', () => assert.equal(({} as { polluted?: number }).polluted, undefined))
})

test('each unknown member of a JSON patch operation is reported once', () => {
  const patch = [
    { op: 'add', path: '/a', value: { x: 1 }, comment: 1 },
    { op: 'remove', path: '/a', comment: 2, id: 3 },
  ]
  assert.deepEqual(unknownMembers(patch), ['comment', 'id'])
  assert.deepEqual(unknownMembers('x'), [])
})

test('random JSON patches have the same result as a simple model', () => {
  const random = seeded(6902)
  let applied = 0
  for (let round = 0; round < 5000; round++) {
    const document = randomValue(random, 4)
    const operations = randomOperations(random, document)
    const expected = modelJsonPatch(document, operations)
    const actual = outcome(document, operations as unknown as Json)
    const context = () => `round ${round}: ${JSON.stringify(document)} by ${JSON.stringify(operations)}`
    assert.equal(actual, expected === 'refused' ? 422 : canonical(expected), context())
    if (expected !== 'refused') applied++
  }
  assert.ok(applied > 1000 && applied < 4500, `${applied} of 5000 patches applied: the generator is lopsided`)
})

test('a patch copies an object with many members in steps that yield to other tasks', () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, i]))
  const patch = parseJsonPatch([{ op: 'replace', path: '/wide/key-7', value: 'new' }])
  const work = jsonPatchSliced({ wide }, patch)
  let steps = 0
  let step = work.next()
  for (; !step.done; step = work.next()) steps++
  assert.ok(steps >= 20, `${steps} steps`)
  assert.deepEqual(step.value, { wide: { ...wide, 'key-7': 'new' } })
})
