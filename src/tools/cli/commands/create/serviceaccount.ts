/** `orchctl create serviceaccount` */
import { defineGenerator } from './generator.ts'

export const createServiceAccountCommand = defineGenerator({
  name: 'serviceaccount',
  about: 'Creates a service account.',
  examples: ['orchctl create serviceaccount robot'],
  flags: {},
  type: { group: 'core', version: 'v1', kind: 'ServiceAccount', namespaced: true },
  make: () => ({}),
})
