/** Defines the failures that SimulationRules can cause, by the names that users specify. */

/** Failures that a rule can cause in simulated pods. */
export const podFailures = [
  'crash-loop',
  'image-pull-error',
  'oom',
  'slow-start',
  'slow-volumes',
  'not-ready',
  'none',
] as const

/** Failures that a rule can cause in simulated nodes. */
export const nodeFailures = ['down', 'partition', 'disk-pressure'] as const

/** A failure that a rule can cause in pods, such as a crash. */
export type PodFailure = (typeof podFailures)[number]
/** A failure that a rule can cause in nodes. */
export type NodeFailure = (typeof nodeFailures)[number]

/** Name of the annotation that marks simulated nodes. Its key is in the subdomain `simulation`. */
export const simulatedNodeAnnotation = 'node'
