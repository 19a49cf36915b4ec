/** When a container restarts: on a change of its resources, and after it exits. */
import { field, s } from '../../../schema/schema.ts'

export const resizePolicy = s.object(
  {
    resourceName: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Resource to which the policy applies: cpu or memory.',
    }),
    restartPolicy: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Whether a resize of the resource restarts the container: `NotRequired` or `RestartContainer`.',
    }),
  },
  { name: 'ContainerResizePolicy', doc: 'Whether resizing a resource restarts the container.' },
)

const onExitCodes = s.object(
  {
    operator: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Relation between the exit code and the values: `In` or `NotIn`.',
    }),
    values: field(2, s.list(s.int32(), { list: 'set' }), { doc: 'Exit codes, at most 255.' }),
  },
  { name: 'ContainerRestartRuleOnExitCodes', doc: 'Exit codes that a restart rule matches.' },
)

export const restartRule = s.object(
  {
    action: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Action if the rule matches: `Restart`, or `RestartAllContainers` for all containers in the pod.',
    }),
    exitCodes: field(2, onExitCodes, { doc: 'Exit codes that the rule matches.' }),
  },
  { name: 'ContainerRestartRule', doc: 'A rule that decides whether a container that exited restarts.' },
)
