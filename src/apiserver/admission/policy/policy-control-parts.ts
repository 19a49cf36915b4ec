/** Declares what the admission plugins for policies need from the server. */
import type { Lookup } from '../../../api/model/lookup.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import type { ValidatingPolicies } from './families.ts'
import type { FindParameterType } from './parameters.ts'
import type { LoadPatterns } from './policy-faults.ts'

/** Dependencies of the admission plugins that evaluate policies. */
export interface PolicyControlParts {
  readonly emulation: Emulation
  readonly lookup: Lookup
  readonly authorizer: Authorizer
  readonly findParameterType: FindParameterType
  readonly loadPatterns: LoadPatterns
  /** The stored ValidatingAdmissionPolicies, which are shared with policy reports. */
  readonly validatingPolicies: ValidatingPolicies
  readonly metrics: AdmissionMetrics
}
