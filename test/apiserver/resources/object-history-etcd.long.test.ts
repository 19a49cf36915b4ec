/**
 * Tests object history through the API and orchctl on etcd. One server receives the writes, and another answers the
 * queries.
 */
import { after } from 'node:test'
import { startEtcd } from '../../support/etcd.ts'
import { serve } from '../../support/in-process.ts'
import { historySuite } from './object-history-suite.ts'

const cluster = await startEtcd()
const start = () => serve({ after }, [`--etcd-servers=${cluster.endpoints}`, '--history-retention=1h'])
historySuite(await start(), await start())
// Stops etcd after the servers, which stop in the order in which they were started.
after(() => cluster.stop())
