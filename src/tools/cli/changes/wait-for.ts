/**
 * Waiting for one object to become something: looks at it as it is, then at every change, until it is so or the time is
 * over. A watch that ends, because the server restarted or the version was too old, starts over.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { pause, withDeadline } from '../../../base/concurrency/abort.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { type ObjectName, typeName } from '../../../client/requests/resource-type.ts'
import { isExpired, isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { TransportError } from '../../../client/requests/transport.ts'
import { watch } from '../../../client/requests/watch.ts'
import type { Subject } from '../arguments/subjects.ts'
import type { Session } from '../connection/session.ts'

/** What is waited for; an object that is not there is undefined. Throws what makes waiting pointless. */
export type Condition = (object: ApiObject | undefined) => boolean

/** That the object with this uid is no more; another of the same name may be there. */
export function isGone(uid: string | undefined): Condition {
  return (object) => object === undefined || (uid !== undefined && object.metadata.uid !== uid)
}

/** Throws UsageError when the time is over; no time at all means one look. */
export async function waitFor(
  session: Session,
  { type, name }: Subject,
  { until, timeoutMs }: { until: Condition; timeoutMs: number },
): Promise<void> {
  const late = () => new UsageError(`timed out waiting for the condition on ${typeName(type)}/${name.name}`)
  if (timeoutMs === 0) {
    const { items } = await session.client.list(type, selectionOfOne(name, session.context.signal))
    if (until(items[0])) return
    throw late()
  }
  // Timers of Node hold no longer than 24 days.
  await withDeadline({ ms: Math.min(timeoutMs, 2 ** 31 - 1), outer: session.context.signal, late }, async (signal) => {
    while (!(await lookOnce({ ...session, signal }, { type, name }, until))) await pause(retryMs, signal)
  })
}

/** One object as a part of its collection. */
function selectionOfOne({ namespace, name }: ObjectName, signal: AbortSignal) {
  return { ...(namespace === undefined ? {} : { namespace }), fieldSelector: `metadata.name=${name}`, signal }
}

const retryMs = 200

/** Looks and then watches; false when the watch ended before it was so. */
async function lookOnce(
  { client, signal }: Session & { signal: AbortSignal },
  { type, name }: Subject,
  until: Condition,
): Promise<boolean> {
  try {
    const selection = selectionOfOne(name, signal)
    const { items, resourceVersion } = await client.list(type, selection)
    if (until(items[0])) return true
    for await (const event of watch(client, type, { ...selection, resourceVersion }))
      if (event.type !== 'BOOKMARK' && until(event.type === 'DELETED' ? undefined : event.object)) return true
    return false
  } catch (error) {
    signal.throwIfAborted()
    if (isPassing(error)) return false
    throw error
  }
}

/** What may be over at the next try. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TransportError || isExpired(error)) return true
  return error instanceof StatusError && !isNotFound(error) && (error.code === 429 || error.code >= 500)
}
