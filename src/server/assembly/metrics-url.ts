/**
 * Reads metrics at regular intervals from the URL in `--metrics-url`. The rules are the same as for all other servers
 * specified by flags: HTTPS only, no redirects, and limits on time and size. If requests to the URL fail for a while,
 * its metrics are removed, so that autoscalers do not act on old values.
 */

import type { Vendor } from '../../api/model/vendor.ts'
import { type MetricsFile, noMetrics, readMetricsFile } from '../../apiserver/file-metrics/metrics-file.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { TimerClock } from '../../base/time/clock.ts'
import { getJson } from '../identity/openid-connect.ts'

/** Interval between two requests in milliseconds. */
const intervalMs = 15_000
/** How long metrics remain after the last successful request, in milliseconds. */
const maxAgeMs = 60_000

export interface MetricsUrlParts {
  readonly url: string
  /** CA certificates in PEM format. Undefined means the public CAs. */
  readonly authority: string | undefined
  readonly vendor: Vendor
  readonly clock: TimerClock
  readonly log: Log
  /** Called with the metrics from each successful request, and with empty metrics when old metrics are removed. */
  readonly replace: (metrics: MetricsFile) => void
}

/** Starts reading the metrics. Returns a function that stops reading. */
export function followMetricsUrl({ url, authority, vendor, clock, log, replace }: MetricsUrlParts): () => void {
  let isStopped = false
  let lastSuccess = clock.now()
  let cancel = () => {}
  const readOnce = async () => {
    try {
      const metrics = readMetricsFile(await getJson(url, authority), vendor)
      if (isStopped) return
      lastSuccess = clock.now()
      replace(metrics)
    } catch (error) {
      if (isStopped) return
      log.warn('cannot read metrics from --metrics-url; will retry', { error: messageOf(error) })
      if (clock.now() - lastSuccess >= maxAgeMs) replace(noMetrics)
    }
    cancel = clock.after(intervalMs, () => void readOnce())
  }
  void readOnce()
  return () => {
    isStopped = true
    cancel()
  }
}
