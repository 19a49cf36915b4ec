/**
 * Tests the names granted to a definition that competes with other definitions, and the reported conflicts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { grantNames, namesTaken } from '../../../src/apiserver/custom/definitions/names.ts'

const asked = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] }

describe('granting names to definitions', () => {
  test('a definition is granted names that are not in use', () => {
    const { names, condition } = grantNames(asked, {}, namesTaken([]))
    assert.deepEqual(names, asked)
    assert.deepEqual([condition.status, condition.reason], ['True', 'NoConflicts'])
  })

  const taken: readonly (readonly [string, object, readonly string[]])[] = [
    ['plural', { plural: 'widgets' }, ['PluralConflict', '"widgets" is already in use']],
    ['singular that is another plural', { plural: 'widget' }, ['SingularConflict', '"widget" is already in use']],
    ['short name', { shortNames: ['x', 'wd'] }, ['ShortNamesConflict', '"wd" is already in use']],
    ['kind that is another list kind', { listKind: 'Widget' }, ['KindConflict', '"Widget" is already in use']],
    ['list kind', { listKind: 'WidgetList' }, ['ListKindConflict', '"WidgetList" is already in use']],
  ]
  for (const [what, others, [reason, message]] of taken)
    test(`a definition is not granted a ${what} that is in use`, () => {
      const { condition } = grantNames(asked, { plural: '', kind: '' }, namesTaken([others]))
      assert.deepEqual([condition.status, condition.reason, condition.message], ['False', reason, message])
    })

  test('a definition keeps its names even if another definition requests them', () => {
    const { condition } = grantNames(asked, asked, namesTaken([asked]))
    assert.equal(condition.status, 'True')
  })

  test('a definition releases the names that it no longer requests', () => {
    const { names } = grantNames({ ...asked, shortNames: [] }, asked, namesTaken([]))
    assert.deepEqual(names.shortNames, [])
  })
})
