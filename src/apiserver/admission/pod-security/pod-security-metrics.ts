/**
 * Counts the evaluations of pods and pod templates by mode and decision. Includes violations in the modes that do not
 * reject pods.
 */
import { Counter } from '../../../base/telemetry/metrics.ts'
import type { AdmissionRequest } from '../admission.ts'
import { type LevelVersion, type Mode, releaseOf } from './policy.ts'

/** The newest minor release with known rules. Later releases share one metric series with it. */
const newest = 23

export class PodSecurityMetrics {
  readonly evaluations = new Counter({
    name: 'pod_security_evaluations_total',
    help: 'Number of PodSecurity evaluations of pods and pod templates.',
    labels: ['decision', 'policy_level', 'policy_version', 'mode', 'request_operation', 'resource', 'subresource'],
  })
  readonly exemptions = new Counter({
    name: 'pod_security_exemptions_total',
    help: 'Number of requests exempt from PodSecurity.',
    labels: ['request_operation', 'resource', 'subresource'],
  })

  judged(
    request: AdmissionRequest,
    { mode, level, allowed }: { mode: Mode; level: LevelVersion; allowed: boolean },
  ): void {
    const decision = allowed ? 'allow' : 'deny'
    this.evaluations.at(decision, level.level, versionLabel(level), mode, ...about(request)).value++
  }

  exempt(request: AdmissionRequest): void {
    this.exemptions.at(...about(request)).value++
  }
}

function about({ operation, type, subresource }: AdmissionRequest): [string, string, string] {
  return [operation.toLowerCase(), type.plural === 'pods' ? 'pod' : 'controller', subresource]
}

function versionLabel({ version }: LevelVersion): string {
  return version === 'latest' || releaseOf(version)! <= newest ? version : 'future'
}
