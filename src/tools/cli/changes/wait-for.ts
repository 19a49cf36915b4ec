/**
 * Waits for a condition of one object: checks its current state, then every change, until the condition is met or the
 * timeout expires. If the watch ends because the server restarted or the version expired, the wait starts again.
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

/**
 * The condition to wait for. Called with undefined if the object does not exist. Throws an error if the condition can
 * never be met.
 */
export type Condition = (object: ApiObject | undefined) => boolean

/**
 * Returns a condition that is met once the object with this UID no longer exists. By then, another object may have the
 * same name.
 */
export function isGone(uid: string | undefined): Condition {
  return (object) => object === undefined || (uid !== undefined && object.metadata.uid !== uid)
}

/** Waits for a condition. Throws UsageError if the timeout expires. With a timeout of zero, checks once. */
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
  // Node.js timers are limited to about 24 days.
  await withDeadline({ ms: Math.min(timeoutMs, 2 ** 31 - 1), outer: session.context.signal, late }, async (signal) => {
    while (!(await lookOnce({ ...session, signal }, { type, name }, until))) await pause(retryMs, signal)
  })
}

/** Returns the list options that select a single object by name. */
function selectionOfOne({ namespace, name }: ObjectName, signal: AbortSignal) {
  return { ...(namespace === undefined ? {} : { namespace }), fieldSelector: `metadata.name=${name}`, signal }
}

const retryMs = 200

/** Checks the object, then watches it. Returns false if the watch ended before the condition was met. */
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

/** Whether a wait should continue after this error because it may be temporary. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TransportError || isExpired(error)) return true
  return error instanceof StatusError && !isNotFound(error) && (error.code === 429 || error.code >= 500)
}
