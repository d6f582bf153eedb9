/** The default: everything inline, so that it runs wherever JavaScript does. */
export * from "./inline.js";
