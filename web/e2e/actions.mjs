export async function actions() {}
