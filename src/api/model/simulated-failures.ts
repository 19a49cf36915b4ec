/** Names of the failures that a SimulationRule causes, as users write them in rules and commands. */

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

/**
 * The name of the annotation that marks simulated nodes. The key of the annotation belongs to the subdomain
 * `simulation`.
 */
export const simulatedNodeAnnotation = 'node'
