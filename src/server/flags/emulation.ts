/** Determines the emulated Kubernetes version and the enabled feature gates from the flags. */
import { kindsOfVersion } from '../../api/kinds/of-version.ts'
import { availabilityParts } from '../../api/schema/availability-parts.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { enabledGates, gatesNamedBy } from './feature-gates.ts'
import type { EmulatedOptions } from './options.ts'

/** Returns the version and its enabled gates. Throws UsageError for a gate that cannot be set. */
export function emulationFrom({
  emulatedVersion: version,
  featureGates,
}: Pick<EmulatedOptions, 'emulatedVersion' | 'featureGates'>): Emulation {
  const namedGates = () => gatesNamedBy(availabilityParts(kindsOfVersion(version)))
  return { version, gates: enabledGates(featureGates, { version, namedGates }) }
}
