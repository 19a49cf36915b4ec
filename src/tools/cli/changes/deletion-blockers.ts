/**
 * Reports what blocks a deletion while `orchctl delete` waits: first after a short delay, and then whenever the reason
 * changes. If the server cannot explain deletions, or if this user may not request explanations, reports the finalizers
 * of the object.
 */

import type { DeletionExplanation } from '../../../api/kinds/ops/deletion-explanation.ts'
import { pause } from '../../../base/concurrency/abort.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../client/requests/resource-type.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import type { Subject } from '../arguments/subjects.ts'
import { singularName } from '../connection/find-type.ts'
import type { Session } from '../connection/session.ts'
import { escapeLine } from '../printers/escape.ts'

const firstMs = 2_000
const againMs = 5_000
const maxNamed = 5

type Explained = NonNullable<DeletionExplanation['status']>

/**
 * Prints what blocks the deletion until the signal aborts. Errors are ignored, because the report is only
 * informational.
 */
export async function reportBlockers(session: Session, subject: Subject, signal: AbortSignal): Promise<void> {
  let lastReported = ''
  for (let ms = firstMs; ; ms = againMs) {
    await pause(ms, signal)
    if (signal.aborted) return
    const text = await blockerText(session, subject, signal).catch(() => '')
    if (signal.aborted || text === '' || text === lastReported) continue
    session.context.err(text)
    lastReported = text
  }
}

async function blockerText(session: Session, subject: Subject, signal: AbortSignal): Promise<string> {
  const explained = (await explain(session, subject, signal)) ?? (await ownFinalizers(session, subject, signal))
  const { since, reasons = [], dependents = [] } = explained
  if (since === undefined) return ''
  const subjectText = `${singularName(subject.type)} "${escapeLine(subject.name.name)}"`
  const lines = [
    `waiting for ${subjectText}, which has been terminating since ${since}:`,
    ...reasons.map(
      ({ finalizer, message = '' }) =>
        `  ${finalizer ? `finalizer ${escapeLine(finalizer)}: ` : ''}${escapeLine(message)}`,
    ),
    ...dependents.slice(0, maxNamed).map(lineOf),
    ...(dependents.length > maxNamed
      ? [`  and ${(explained.dependentCount ?? dependents.length) - maxNamed} more`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function lineOf({
  kind = '',
  name = '',
  blocks,
  finalizers = [],
}: NonNullable<Explained['dependents']>[number]): string {
  const finalizerText = finalizers.length === 0 ? '' : `, blocked by ${finalizers.map(escapeLine).join(', ')}`
  return `  dependent ${escapeLine(kind)} "${escapeLine(name)}"${blocks ? ', which blocks the deletion' : ''}${finalizerText}`
}

/**
 * Returns the server's explanation, or undefined if the server cannot explain deletions or this user may not request
 * explanations.
 */
async function explain(session: Session, { type, name }: Subject, signal: AbortSignal): Promise<Explained | undefined> {
  const explanations = inDomainOf(await session.types.vendor(), kinds.DeletionExplanation)
  const question = {
    metadata: {},
    spec: { group: type.group, resource: type.plural, namespace: name.namespace ?? '', name: name.name },
  }
  try {
    return (await session.client.create(explanations, question, { signal })).status
  } catch (error) {
    if (isNotFound(error) || (error instanceof StatusError && error.code === 403)) return undefined
    throw error
  }
}

async function ownFinalizers({ client }: Session, { type, name }: Subject, signal: AbortSignal): Promise<Explained> {
  const { metadata } = await client.get(type, name, { signal })
  const { deletionTimestamp: since, finalizers = [] } = metadata
  const message = 'the controller that set this finalizer must remove it'
  return { ...(since === undefined ? {} : { since }), reasons: finalizers.map((finalizer) => ({ finalizer, message })) }
}
