/**
 * Unimplemented admission plugins of later Kubernetes versions. Kubernetes enables all of them by default. This server
 * never runs these plugins, and refuses to start if a flag enables one of them.
 */
import type { ControlName } from './all.ts'

/** The unimplemented admission plugins, with the Kubernetes versions that include them. */
export const unbuiltControls: readonly ControlName[] = [
  { name: 'NodeDeclaredFeatureValidator', byDefault: true, since: '1.35' },
  { name: 'PodGroupProtection', byDefault: true, since: '1.36' },
  { name: 'PodGroupWorkloadExists', byDefault: true, since: '1.36' },
  { name: 'JobValidation', byDefault: true, since: '1.36' },
]
