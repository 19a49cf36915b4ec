/** Implements `orchctl create serviceaccount`. */
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { defineGenerator } from './generator.ts'

export const createServiceAccountCommand = defineGenerator({
  name: 'serviceaccount',
  about: 'Create a service account.',
  examples: ['orchctl create serviceaccount robot'],
  flags: {},
  type: kinds.ServiceAccount,
  make: () => ({}),
})
