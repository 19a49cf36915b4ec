/** Implements `orchctl cordon` and `uncordon`, which mark nodes as unschedulable or schedulable. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { flag, type OptionsOf, text, UsageError } from '../../../../base/flags/flags.ts'
import { changeSubjects } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { type Command, defineCommand } from '../../program/command.ts'

export const nodeFlags = {
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for nodes',
  }),
  ...writeFlags,
  ...connectionFlags,
}

type NodeOptions = OptionsOf<typeof nodeFlags>

interface Node extends ApiObject {
  spec?: { unschedulable?: boolean }
}

/**
 * Adds the type `nodes` to node names, so that `findSubjects` can look them up. Throws UsageError unless either names
 * or a selector is given.
 */
export function nodeWords(name: string, words: readonly string[], { selector }: { selector: string }): string[] {
  if (words.length === 0 && selector === '')
    throw new UsageError(`USAGE: ${name} NODE [flags]: specify a node, or select nodes with -l`)
  if (words.length > 0 && selector !== '')
    throw new UsageError('cannot specify both a node name and a --selector option')
  return words.some((word) => word.includes('/')) ? [...words] : ['nodes', ...words]
}

export async function setSchedulable(
  session: Session,
  words: readonly string[],
  { options, schedulable }: { options: NodeOptions; schedulable: boolean },
): Promise<void> {
  const done = schedulable ? 'uncordoned' : 'cordoned'
  await changeSubjects(session, words, {
    options: { ...options, filename: [], recursive: false, fieldSelector: '', all: false, allNamespaces: false },
    unchanged: `already ${done}`,
    changeOf: (live: Node, { type }) => {
      if (type.kind !== 'Node') throw new UsageError(`cannot cordon a ${type.kind}: only nodes are supported`)
      const same = (live.spec?.unschedulable ?? false) !== schedulable
      const spec = { unschedulable: schedulable ? null : true }
      return {
        patch: same ? undefined : { merge: { spec } },
        done,
        next: { ...live, spec: { ...live.spec, ...spec } } as ApiObject,
      }
    },
  })
}

function defineCordon(name: 'cordon' | 'uncordon', about: string): Command {
  return defineCommand({
    name,
    forms: ['(NODE... | -l SELECTOR) [flags]'],
    about,
    examples: [`orchctl ${name} n1`, `orchctl ${name} -l zone=a`],
    flags: nodeFlags,
    run: async (context, { options, words }) => {
      const nodes = nodeWords(name, words, options)
      await withTypedSession(context, options, async (session) => {
        await setSchedulable(session, nodes, { options, schedulable: name === 'uncordon' })
      })
    },
  })
}

export const cordonCommand = defineCordon(
  'cordon',
  'Mark nodes unschedulable: no new pods are scheduled there, and running pods stay.',
)
export const uncordonCommand = defineCordon('uncordon', 'Mark nodes schedulable again.')
