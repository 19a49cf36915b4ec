/**
 * Reports how many existing objects each ValidatingAdmissionPolicy would reject (`policyreports`). The first request
 * for a report starts its computation in the background. Only one report is computed at a time. A later request
 * triggers a new computation if the report is old, or if the policy or its bindings have changed. Each server computes
 * its own reports.
 */
import { policyReport } from '../../api/kinds/ops/policy-report.ts'
import { notFound } from '../../api/model/api-error.ts'
import { timestamp } from '../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ValidatingPolicies } from '../admission/policy/families.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { judgeLiveObjects, type LiveJudgement, type LiveJudgingParts, newJudgement } from './judge-live-objects.ts'

export interface PolicyReportParts extends LiveJudgingParts {
  readonly clock: Clock
  readonly log: Log
  readonly validatingPolicies: ValidatingPolicies
}

/** Minimum age of a report before it is recomputed, in milliseconds. */
const maxAgeMs = 60_000

interface Report {
  /** Identifies the version of the policy and of its bindings that the report covers. */
  readonly state: string
  phase: 'Pending' | 'Running' | 'Complete'
  readonly judgement: LiveJudgement
  completedAt: number | undefined
}

/** Computes and caches the policy reports of this server. */
export class PolicyReports {
  readonly #parts: PolicyReportParts
  /** The latest report of each policy, by policy name. */
  #reports = new Map<string, Report>()
  readonly #queue = new Set<string>()
  readonly #ended = new AbortController()
  #running: Promise<void> | undefined

  constructor(parts: PolicyReportParts) {
    this.#parts = parts
  }

  /** Returns the current report on a policy. Starts its computation if necessary. */
  async reportOf(name: string): Promise<Report | undefined> {
    const policy = await this.#parts.validatingPolicies.find(name)
    return policy && this.#current(name, policy.state)
  }

  /** Returns the current reports by the name of their policy. Deletes the reports on deleted policies. */
  async all(): Promise<ReadonlyMap<string, Report>> {
    const states = await this.#parts.validatingPolicies.states()
    this.#reports = new Map([...this.#reports].filter(([name]) => states.has(name)))
    return new Map([...states].map(([name, state]) => [name, this.#current(name, state)]))
  }

  /** Stops the current computation. */
  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  #current(name: string, state: string): Report {
    const known = this.#reports.get(name)
    const isOld = known?.completedAt !== undefined && this.#parts.clock.now() - known.completedAt > maxAgeMs
    if (known?.state !== state || isOld) this.#request(name)
    if (known?.state === state) return known
    const report = newReport(state)
    this.#reports.set(name, report)
    return report
  }

  #request(name: string): void {
    this.#queue.add(name)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async #run(): Promise<void> {
    for (const name of this.#queue) {
      if (this.#ended.signal.aborted) return
      this.#queue.delete(name)
      try {
        await this.#compute(name)
      } catch (error) {
        this.#reports.delete(name)
        this.#parts.log.warn('cannot compute a policy report', { policy: name, ...errorFields(error) })
      }
    }
  }

  async #compute(name: string): Promise<void> {
    const policy = await this.#parts.validatingPolicies.find(name)
    if (policy === undefined) return
    const report = newReport(policy.state)
    report.phase = 'Running'
    // Until the new report is complete, the previous report for the same version of the policy remains visible.
    const isVisible = this.#reports.get(name)?.completedAt === undefined
    if (isVisible) this.#reports.set(name, report)
    const { signal } = this.#ended
    await judgeLiveObjects(this.#parts, policy, { judgement: report.judgement, signal })
    if (signal.aborted) return
    report.phase = 'Complete'
    report.completedAt = this.#parts.clock.now()
    this.#reports.set(name, report)
  }
}

function newReport(state: string): Report {
  return { state, phase: 'Pending', judgement: newJudgement(), completedAt: undefined }
}

export interface PolicyReportEndpointParts {
  readonly vendor: Vendor
  /** Returns the policy reports of this server. They exist only after the admission plugins have been created. */
  readonly policyReports: () => PolicyReports
}

export function policyReports({ vendor, policyReports: reports }: PolicyReportEndpointParts): Endpoint {
  const apiVersion = apiVersionOf(vendor, policyReport.group, policyReport.version)
  const { kind, plural } = policyReport
  return {
    kind: policyReport,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Lists how many existing objects each ValidatingAdmissionPolicy would reject.',
    answer: async ({ verb, name }) => {
      if (verb === 'list') {
        const items = [...(await reports().all())].map(([each, report]) => describe(each, report))
        return { apiVersion, kind: `${kind}List`, metadata: {}, items }
      }
      const report = await reports().reportOf(name)
      if (report === undefined) throw notFound({ group: groupName(vendor, 'ops'), plural }, name)
      return { apiVersion, kind, ...describe(name, report) }
    },
  }
}

function describe(name: string, { phase, completedAt, judgement }: Report) {
  const { checked, violating, denied, examples, isTruncated } = judgement
  return {
    metadata: { name },
    status: {
      phase,
      checkedObjects: checked,
      violatingObjects: violating,
      deniedObjects: denied,
      ...(examples.length === 0 ? {} : { examples: [...examples] }),
      ...(isTruncated ? { truncated: true } : {}),
      ...(completedAt === undefined ? {} : { completionTime: timestamp(completedAt) }),
    },
  }
}
