/** Implements `orchctl rollout history`, which lists the revisions of a workload or shows one revision. */

import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { groupOf } from '../../../../api/model/api-version.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import { flag, type OptionsOf, UsageError } from '../../../../base/flags/flags.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { changeCauseKey } from '../../changes/change-cause.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { report, shownFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { singularName } from '../../connection/find-type.ts'
import type { Session } from '../../connection/session.ts'
import { escapeLine, escapeText } from '../../printers/escape.ts'
import { alignTabs } from '../../printers/tabs.ts'
import { defineCommand } from '../../program/command.ts'
import { podTemplateText } from '../describe/pod.ts'
import { type Revision, readRevision, revisionsOf } from './revisions.ts'
import { called, findWorkloads, rolloutKind, type Template, workloadFlags } from './workloads.ts'

const flags = {
  revision: flag({
    name: 'revision',
    value: 'NUMBER',
    default: '0',
    read: readRevision,
    help: 'revision to show; 0 to list all revisions',
  }),
  ...workloadFlags,
  ...shownFlags,
  ...connectionFlags,
}

export const historyCommand = defineCommand({
  name: 'rollout history',
  forms: ['(TYPE NAME | TYPE/NAME | TYPE | -f FILE) [flags]'],
  about: `List the revisions of deployments, daemon sets and stateful sets, or show the pod template of one revision.

With -o, print the objects that store the revisions: replica sets or controller revisions.`,
  examples: [
    'orchctl rollout history deployment/web',
    'orchctl rollout history deployment/web --revision=3',
    'orchctl rollout history deployment/web --revision=3 -o yaml',
  ],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      for (const subject of await findWorkloads(session, words, options))
        context.out(await historyText(session, subject, options))
    })
  },
})

async function historyText(session: Session, subject: Subject, options: OptionsOf<typeof flags>): Promise<string> {
  const { revision, output } = options
  const live = await liveOf(session, subject)
  if (rolloutKind(subject) === undefined) throw new UsageError(`${called(subject)} has no rollout history`)
  const revisions = await revisionsOf(session, live)
  const matchingRevision = revisions.find(({ number }) => number === revision)
  if (revision > 0n && matchingRevision === undefined) throw new UsageError('unable to find the specified revision')
  if (output.form !== '')
    return await keepersText(matchingRevision === undefined ? revisions : [matchingRevision], options)
  const title = `${singularName(subject.type)}/${escapeLine(subject.name.name)}`
  if (matchingRevision === undefined) return `${title} \n${listText(revisions)}`
  return `${title} with revision #${revision}\n${templateText(withCause(matchingRevision, await session.types.vendor()))}\n`
}

/** Prints the objects that store the revisions. */
async function keepersText(revisions: readonly Revision[], options: OptionsOf<typeof flags>): Promise<string> {
  const texts: string[] = []
  for (const [index, { keeper }] of revisions.entries()) {
    const type = { kind: keeper.kind, group: groupOf(keeper.apiVersion) }
    texts.push(await report(options, { type, object: keeper, done: '', index }))
  }
  return texts.join('')
}

function listText(revisions: readonly Revision[]): string {
  if (revisions.length === 0) return 'No rollout history found.\n'
  const rows = revisions.map(({ number, cause }) => `${number}\t${escapeLine(cause) || '<none>'}\n`)
  return `${alignTabs(`REVISION\tCHANGE-CAUSE\n${rows.join('')}`)}\n`
}

function withCause({ template, cause }: Revision, vendor: Vendor): Template {
  if (cause === '') return template
  const annotations = { ...template.metadata?.annotations, [changeCauseKey(vendor)]: cause }
  return { ...template, metadata: { ...template.metadata, annotations } }
}

/** Formats a pod template like `describe`, but without aligning columns, as kubectl does. */
export function templateText(template: Template): string {
  return escapeText(podTemplateText(template as { spec?: NonNullable<Pod['spec']> }))
}
