/**
 * Tests object history through the API and orchctl, on the in-memory store. `object-history-etcd.long.test.ts` runs
 * the same tests on etcd.
 */
import { after } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { historySuite } from './object-history-suite.ts'

const server = await serve({ after })
historySuite(server, server)
