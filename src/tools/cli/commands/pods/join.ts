/** Waits until a container is running and then attaches to it, for `debug -i` and `run -i`. */

import type { ApiObject } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { waitFor } from '../../changes/wait-for.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import { runRemotely } from '../../streaming/remote-command.ts'
import { wantsTerminal } from './exec.ts'

export interface AttachOptions {
  readonly container: string
  readonly stdin: boolean
  readonly tty: boolean
  readonly quiet: boolean
  /** Maximum time in milliseconds to wait for the container to start. */
  readonly timeout: number
}

/** Attaches to a container. If its program exits with a code other than 0, throws ExitCode with that code. */
export async function joinContainer(session: Session, pod: ApiObject, options: AttachOptions): Promise<void> {
  const { container, stdin, quiet, timeout } = options
  const place = objectNameIn(session, kinds.Pod, pod.metadata.name ?? '')
  const type = await session.types.typeNamed('pods')
  await waitFor(
    session,
    { type, name: place },
    { until: (object) => hasStarted(object, container), timeoutMs: timeout },
  )
  if (!quiet && stdin) session.context.err("If you don't see a command prompt, try pressing enter.\n")
  await runRemotely(session, {
    path: objectPath(kinds.Pod, place, 'attach'),
    container,
    tty: wantsTerminal(session, options),
    input: stdin ? session.context.inputStream() : undefined,
  })
}

interface WithStates {
  readonly status?: { readonly [list: string]: unknown }
}

interface State {
  readonly name?: string
  readonly state?: { readonly running?: object; readonly terminated?: object }
}

function hasStarted(object: ApiObject | undefined, container: string): boolean {
  const { status } = (object ?? {}) as WithStates
  return ['ephemeralContainerStatuses', 'containerStatuses'].some((list) => {
    const states = (status?.[list] ?? []) as readonly State[]
    return states.some(({ name, state }) => name === container && (state?.running ?? state?.terminated) !== undefined)
  })
}
