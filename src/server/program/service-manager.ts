/**
 * Tells systemd how far the server is, where systemd asks for it (`Type=notify` sets NOTIFY_SOCKET). The message goes over
 * a Unix datagram socket, which Node does not have; `systemd-notify`, which is part of systemd, sends it for this process.
 * So a unit needs `NotifyAccess=all`. Without systemd nothing is done, and a failure is only logged.
 */
import { execFile } from 'node:child_process'
import type { Log } from '../../base/telemetry/log.ts'

const timeoutMs = 5000

/** Sends a state such as READY=1. Resolves when it is sent, or could not be. */
export async function notifyManager(state: 'READY=1' | 'STOPPING=1', log: Log): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  await new Promise<void>((resolve) => {
    execFile('systemd-notify', [`--pid=${process.pid}`, state], { timeout: timeoutMs }, (error) => {
      if (error !== null)
        log.error('systemd could not be notified: is systemd-notify installed?', { state, error: error.message })
      resolve()
    })
  })
}
