/** The long form of the tests (`npm run test:long`): what the short one tries once or a few times is tried in every way. */
export const long = process.env.ORCH_LONG === '1'
