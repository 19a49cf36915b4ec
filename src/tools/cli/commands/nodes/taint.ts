/** Implements `orchctl taint`, which updates taints of nodes. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { flag, refusedFlag, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { type Change, changeSubjects } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { defineCommand } from '../../program/command.ts'
import { splitWords } from '../set/pod-spec.ts'

const flags = {
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for nodes',
  }),
  all: toggle({ name: 'all', help: 'change the taints of all nodes' }),
  overwrite: toggle({ name: 'overwrite', help: 'overwrite existing taints with the same key and effect' }),
  validate: refusedFlag('validate', 'taints are always checked', { accepted: 'true' }),
  ...writeFlags,
  ...connectionFlags,
}

export const taintCommand = defineCommand({
  name: 'taint',
  forms: ['node NAME... KEY[=VALUE]:EFFECT... [KEY[:EFFECT]-...] [flags]', 'nodes (-l SELECTOR | --all) ... [flags]'],
  about: `Set or remove taints on nodes. The scheduler assigns a pod to a tainted node only if the pod tolerates the taint.

EFFECT is NoSchedule, PreferNoSchedule or NoExecute.`,
  examples: [
    'orchctl taint node n1 dedicated=gpu:NoSchedule',
    'orchctl taint node n1 dedicated:NoSchedule-',
    'orchctl taint nodes --all maintenance-',
  ],
  flags,
  run: async (context, { options, words }) => {
    const { subjects, changes } = splitWords(words, (word) => /[=:]|-$/.test(word))
    const taintChanges = readTaints(changes)
    await withTypedSession(context, options, async (session) => {
      const [word = ''] = subjects[0]?.split('/') ?? []
      const type = await session.types.typeNamed(word || 'nodes')
      if (type.kind !== 'Node' || type.group !== '')
        throw new UsageError(`invalid resource type ${word}, only node types are supported`)
      if (changes.length === 0) throw new UsageError('at least one taint update is required')
      await changeSubjects(session, subjects, {
        options: { ...options, filename: [], recursive: false, fieldSelector: '', allNamespaces: false },
        unchanged: undefined,
        changeOf: (live) => changeOf(live, taintChanges, options),
      })
    })
  },
})

interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

interface Wanted {
  readonly set: readonly Taint[]
  /** Taints to remove. An empty effect removes all taints with the key. */
  readonly remove: readonly Taint[]
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function readTaints(words: readonly string[]): Wanted {
  const set: Taint[] = []
  const remove: Taint[] = []
  for (const word of words) {
    const removes = word.endsWith('-')
    const match = /^([^=:]+)(?:=([^:]*))?(?::(.*))?$/.exec(removes ? word.slice(0, -1) : word)
    const [, key = '', value = '', effect = ''] = match ?? []
    if (match === null || (!removes && effect === ''))
      throw new UsageError(`invalid taint spec: ${word}; use KEY=VALUE:EFFECT, or KEY:EFFECT- to remove it`)
    if (effect !== '' && !effects.includes(effect))
      throw new UsageError(`invalid taint effect: ${effect}; use one of ${effects.join(', ')}`)
    if (removes) remove.push({ key, effect })
    else set.push({ key, ...(value && { value }), effect })
  }
  return { set, remove }
}

interface Node extends ApiObject {
  spec?: { taints?: Taint[] }
}

const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect

function changeOf(live: Node, { set, remove }: Wanted, { overwrite }: { overwrite: boolean }): Change {
  const before = live.spec?.taints ?? []
  const existingTaints = before.filter((taint) => set.some((other) => isSame(taint, other)))
  if (existingTaints.length > 0 && !overwrite)
    throw new UsageError(
      `node ${live.metadata.name} already has ${existingTaints.map(({ key }) => key).join(',')} taint(s) with same effect(s) and --overwrite is false`,
    )
  let taints = [...set, ...before.filter((taint) => !existingTaints.includes(taint))]
  for (const removal of remove) {
    const remainingTaints = taints.filter(
      ({ key, effect }) => key !== removal.key || (removal.effect !== '' && effect !== removal.effect),
    )
    if (remainingTaints.length === taints.length)
      throw new UsageError(
        `taint ${JSON.stringify(removal.effect === '' ? removal.key : `${removal.key}:${removal.effect}`)} not found`,
      )
    taints = remainingTaints
  }
  const added = set.length > 0
  const done = overwrite || (added && remove.length > 0) ? 'modified' : added ? 'tainted' : 'untainted'
  // The patch replaces the whole list of taints, so it must fail if the node has changed in the meantime.
  const patch = { merge: { metadata: { resourceVersion: live.metadata.resourceVersion }, spec: { taints } } }
  return { patch, done, next: { ...live, spec: { ...live.spec, taints } } as ApiObject }
}
