/** Implements `orchctl rollout undo`, which rolls back a workload to an earlier revision. */

import { sameJson } from '../../../../api/json/json.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { flag, type OptionsOf, UsageError } from '../../../../base/flags/flags.ts'
import type { Patch } from '../../../../client/requests/client.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { inBulk } from '../../changes/bulk.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { report, requestOptions, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { defineCommand } from '../../program/command.ts'
import { lastAppliedKey } from '../apply/last-applied.ts'
import { templateText } from './history.ts'
import { type Revision, readRevision, revisionKey, revisionsOf, wantedRevision } from './revisions.ts'
import { called, findWorkloads, rolloutKind, type Template, type Workload, workloadFlags } from './workloads.ts'

const flags = {
  toRevision: flag({
    name: 'to-revision',
    value: 'NUMBER',
    default: '0',
    read: readRevision,
    help: 'revision to roll back to; 0 for the previous revision',
  }),
  ...workloadFlags,
  ...writeFlags,
  ...connectionFlags,
}

export const undoCommand = defineCommand({
  name: 'rollout undo',
  forms: ['(TYPE NAME | TYPE/NAME | TYPE | -f FILE) [flags]'],
  about: 'Roll back deployments, daemon sets and stateful sets to the previous or a given revision.',
  examples: ['orchctl rollout undo deployment/web', 'orchctl rollout undo daemonset/logs --to-revision=3'],
  flags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      await inBulk(context, await findWorkloads(session, words, options), {
        sortOf: ({ type }) => type,
        done: 'rolled back',
        act: (subject, index) => undoOne(session, subject, { options, index }),
      })
    })
  },
})

async function undoOne(
  session: Session,
  subject: Subject,
  { options, index }: { options: OptionsOf<typeof flags>; index: number },
): Promise<string> {
  const { type, name } = subject
  const live: Workload = await liveOf(session, subject)
  if (rolloutKind(subject) === undefined) throw new UsageError(`${called(subject)} cannot be rolled back`)
  const title = `${type.kind.toLowerCase()}/${name.name}`
  if (live.spec?.paused)
    throw new UsageError(
      `you cannot rollback a paused deployment; resume it first with 'orchctl rollout resume ${title}' and try again`,
    )
  const revision = wantedRevision(await revisionsOf(session, live), options.toRevision, title)
  const template = withoutHash(revision.template)
  if (options.dryRun === 'client')
    return await report(options, { type, object: live, done: templateText(revision.template), index })
  if (sameJson(template, withoutHash(live.spec?.template ?? {}))) {
    const done = `skipped rollback (current template already matches revision ${revision.number})`
    return await report(options, { type, object: live, done, index })
  }
  const patch = patchOf(live, { ...revision, template }, await session.types.vendor())
  const object = await session.client.patch(type, name, { ...requestOptions(session, options), patch })
  return await report(options, { type, object, done: 'rolled back', index })
}

const hashLabel = 'pod-template-hash'

/**
 * Removes the label that distinguishes the ReplicaSets of a Deployment, because it is not part of the deployment's
 * template.
 */
function withoutHash(template: Template): Template {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/**
 * Returns a patch that restores the template of a revision. For a deployment, also restores the annotations that do not
 * describe its current state.
 */
function patchOf(live: Workload, { template, keeper }: Revision, vendor: Vendor): Patch {
  const replaced = { op: 'replace', path: '/spec/template', value: template }
  if (live.kind !== 'Deployment') return { json: [replaced] }
  const ofToday = [
    lastAppliedKey(vendor),
    revisionKey(vendor),
    ...['revision-history', 'desired-replicas', 'max-replicas'].map((key) => vendorKey(vendor, key, 'deployment')),
    'deprecated.deployment.rollback.to',
  ]
  const isOfToday = ([key]: [string, string]) => ofToday.includes(key)
  const value = Object.fromEntries([
    ...Object.entries(live.metadata.annotations ?? {}).filter(isOfToday),
    ...Object.entries(keeper.metadata.annotations ?? {}).filter((entry) => !isOfToday(entry)),
  ])
  return { json: [replaced, { op: 'add', path: '/metadata/annotations', value }] }
}
