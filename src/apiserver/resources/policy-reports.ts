/**
 * Reports how many existing objects each ValidatingAdmissionPolicy would reject (`policyreports`). The first request
 * for a report starts its computation in the background. Only one report is computed at a time. A later request
 * triggers a new computation if the report is old, or if the policy or its bindings have changed. Each server computes
 * its own reports.
 */
import { validatingAdmissionPolicy } from '../../api/kinds/admissionregistration/validating-admission-policy.ts'
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBinding,
} from '../../api/kinds/admissionregistration/validating-admission-policy-binding.ts'
import { policyReport } from '../../api/kinds/ops/policy-report.ts'
import { notFound } from '../../api/model/api-error.ts'
import { timestamp } from '../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { compilePolicy, settingsOf } from '../admission/policy/compiled-policy.ts'
import type { ValidatingPolicy } from '../admission/policy/families.ts'
import { matcherOf } from '../admission/policy/matching.ts'
import { bindingOf } from '../admission/policy/policies.ts'
import type { LoadPatterns } from '../admission/policy/policy-faults.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { judgeLiveObjects, type LiveJudgement, type LiveJudgingParts, newJudgement } from './judge-live-objects.ts'

export interface PolicyReportParts extends LiveJudgingParts {
  readonly clock: Clock
  readonly log: Log
  readonly loadPatterns: LoadPatterns
}

/** Minimum age of a report before it is recomputed, in milliseconds. */
const maxAgeMs = 60_000

interface Report {
  /** Identifies the version of the policy and its bindings that the report is about. */
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

  /** Returns the current state of a report. Starts its computation if necessary. */
  reportOf(name: string, bindings = this.#bindings(name)): Report | undefined {
    const state = this.#stateOf(name, bindings)
    if (state === undefined) return undefined
    const known = this.#reports.get(name)
    const isOld = known?.completedAt !== undefined && this.#parts.clock.now() - known.completedAt > maxAgeMs
    if (known?.state === state && !isOld) return known
    this.#request(name)
    if (known?.state === state) return known
    const report = newReport(state)
    this.#reports.set(name, report)
    return report
  }

  /** Returns the current state of all reports, by the name of their policy. Deletes the reports of deleted policies. */
  all(): ReadonlyMap<string, Report | undefined> {
    const names = [...this.#parts.lookup.names(validatingAdmissionPolicy)].map(({ name }) => name).sort()
    const existing = new Set(names)
    this.#reports = new Map([...this.#reports].filter(([name]) => existing.has(name)))
    // Group the bindings once, because there can be thousands of policies and bindings.
    const bindings = Map.groupBy(this.#allBindings(), ({ spec }) => spec?.policyName ?? '')
    return new Map(names.map((name) => [name, this.reportOf(name, bindings.get(name) ?? [])]))
  }

  /** Stops the current computation. */
  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
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
    const state = this.#stateOf(name)
    const policy = state === undefined ? undefined : this.#policy(name)
    if (state === undefined || policy === undefined) return
    const report = newReport(state)
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

  #allBindings(): ValidatingAdmissionPolicyBinding[] {
    const all = this.#parts.lookup.list(validatingAdmissionPolicyBinding, { namespace: undefined })
    return all.map(({ object }) => object)
  }

  #bindings(name: string): ValidatingAdmissionPolicyBinding[] {
    return this.#allBindings().filter(({ spec }) => spec?.policyName === name)
  }

  #stateOf(name: string, bindings = this.#bindings(name)): string | undefined {
    const policy = this.#parts.lookup.getCached(validatingAdmissionPolicy, { namespace: '', name })
    if (policy === undefined) return undefined
    const { uid, generation } = policy.object.metadata
    return JSON.stringify([uid, generation, bindings.map(({ metadata }) => [metadata.uid, metadata.generation])])
  }

  #policy(name: string): ValidatingPolicy | undefined {
    const spec = this.#parts.lookup.getCached(validatingAdmissionPolicy, { namespace: '', name })?.object.spec
    if (spec === undefined) return undefined
    const compile = async () => {
      const readPattern = await this.#parts.loadPatterns()
      return await new TimeSlice().run(compilePolicy(spec, { readPattern }))
    }
    const compiled = compile()
    return {
      name,
      settings: settingsOf(spec),
      matcher: matcherOf(spec.matchConstraints),
      bindings: this.#bindings(name).map(({ metadata, spec: bound = {} }) => bindingOf(metadata.name ?? '', bound)),
      compiled: () => compiled,
    }
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
    answer: ({ verb, name }) => {
      if (verb === 'list') {
        const items = [...reports().all()].map(([each, report]) => describe(each, report))
        return { apiVersion, kind: `${kind}List`, metadata: {}, items }
      }
      const report = reports().reportOf(name)
      if (report === undefined) throw notFound({ group: groupName(vendor, 'ops'), plural }, name)
      return { apiVersion, kind, ...describe(name, report) }
    },
  }
}

function describe(name: string, report: Report = newReport('')) {
  const { phase, completedAt, judgement } = report
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
