/**
 * Configuration of the agent on a node through an object. It is known so that it can be read, and dropped when sent.
 */
import { field, s } from '../../../schema/schema.ts'

const needed = { zero: 'write', published: 'required' } as const

const configMapNodeConfigSource = s.object(
  {
    namespace: field(1, s.string(), { ...needed, doc: 'The namespace of the ConfigMap.' }),
    name: field(2, s.string(), { ...needed, doc: 'Its name.' }),
    uid: field(3, s.string(), { doc: 'Its uid.' }),
    resourceVersion: field(4, s.string(), { doc: 'Its version.' }),
    kubeletConfigKey: field(5, s.string(), { ...needed, doc: 'The key in it.' }),
  },
  { name: 'ConfigMapNodeConfigSource', doc: 'A ConfigMap that configures an agent.' },
)

export const nodeConfigSource = s.object(
  { configMap: field(2, configMapNodeConfigSource, { doc: 'The ConfigMap.' }) },
  { name: 'NodeConfigSource', doc: 'Where the configuration of an agent is.' },
)

export const nodeConfigStatus = s.object(
  {
    assigned: field(1, nodeConfigSource, { doc: 'The configuration that it should use.' }),
    active: field(2, nodeConfigSource, { doc: 'What it uses.' }),
    lastKnownGood: field(3, nodeConfigSource, { doc: 'What it goes back to.' }),
    error: field(4, s.string(), { doc: 'Why it does not use the assigned configuration.' }),
  },
  { name: 'NodeConfigStatus', doc: 'How far a new configuration of an agent has come.' },
)
