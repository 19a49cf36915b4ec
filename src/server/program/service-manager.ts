/**
 * Reports the state of the server to systemd (`Type=notify` sets NOTIFY_SOCKET). Node.js does not support Unix datagram
 * sockets, so `systemd-notify`, a part of systemd, sends the message. The unit file therefore needs `NotifyAccess=all`.
 * Without systemd, nothing is sent. A failure is only logged.
 */
import type { Log } from '../../base/telemetry/log.ts'

const timeoutMs = 5000

/** Sends a state such as READY=1. Resolves when the state has been sent or sending has failed. */
export async function notifyManager(state: 'READY=1' | 'STOPPING=1', log: Log): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  const { execFile } = await import('node:child_process')
  await new Promise<void>((resolve) => {
    execFile('systemd-notify', [`--pid=${process.pid}`, state], { timeout: timeoutMs }, (error) => {
      if (error !== null)
        log.error('cannot notify systemd: is systemd-notify installed?', { state, error: error.message })
      resolve()
    })
  })
}
