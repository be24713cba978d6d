/** Imports of the packages that execute graphs: they exist once in a process, because their classes and states are compared by identity. */
export const enginePackage = /^@langchain\/(core|langgraph|langgraph-checkpoint)(\/|$)/;
